package hierarchy

import (
	"runtime"
	"sync"
)

// mutex is a sync.Mutex for which a caller waits a few microseconds before it sleeps. Shards
// are mostly locked for less than a microsecond, while to wake a goroutine takes a hundred. And
// meanwhile others may have locked it again.
type mutex struct{ sync.Mutex }

// Lock is too long for the compiler to inline. The hottest paths contain its lines.
func (m *mutex) Lock() {
	if !m.TryLock() {
		m.wait()
	}
}

// wait is Lock when TryLock has failed.
func (m *mutex) wait() {
	if severalProcessors {
		for range looks {
			for range pause {
			}
			if m.TryLock() {
				return
			}
		}
	}
	m.Mutex.Lock()
}

const (
	looks = 400 // how often wait looks whether it can lock
	pause = 40  // how many steps there are between two looks
)

var severalProcessors = runtime.NumCPU() > 1
