package engine

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// mutex is a sync.Mutex whose callers spin for a few microseconds before they sleep. Shards are mostly locked for less
// than a microsecond, while waking a goroutine takes a hundred, and meanwhile others may have locked it again.
type mutex struct {
	lockOrder
	sync.Mutex
}

// The ranks of locks, as in the table in doc.go.
const (
	aimRank = iota
	shardRank
	waitsRank
)

func (m *mutex) TryLock() bool {
	if !m.Mutex.TryLock() {
		return false
	}
	m.locked()
	return true
}

func (m *mutex) Unlock() {
	m.unlocking()
	m.Mutex.Unlock()
}

// Lock is too long for the compiler to inline, so the hottest paths contain its lines.
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
	m.locked()
}

const (
	looks = 400 // how often wait tries to lock
	pause = 40  // how many steps there are between two tries
)

var severalProcessors = runtime.NumCPU() > 1

// part is a part of something that several processors use, for example a shard.
type part interface{ lock() *mutex }

// lockOwn locks the part of the running processor. If another processor has locked it, this one
// uses the next part from now on, so that in the end each has its own. The number of parts is a
// power of two.
func lockOwn[P part](parts []P) P {
	t := tokens.Get().(*token)
	defer tokens.Put(t)
	p := parts[t.number&(len(parts)-1)]
	if p.lock().TryLock() {
		return p
	}
	t.number++
	p = parts[t.number&(len(parts)-1)]
	p.lock().Lock()
	return p
}

// A token tends to stay with one processor, as a sync.Pool keeps what is put into it with the processor that put it
// there. Its number determines which shards that processor should use, of any wheel, so that it finds their locks and
// memory in its own cache. If a token is garbage collected, or moves with a goroutine, only speed is lost.
type token struct{ number int }

var (
	tokens = sync.Pool{New: func() any { return &token{int(issued.Add(1))} }}
	issued atomic.Int32
)

const (
	// sampleEvery is the number of timers after which the wheel checks which processor is running.
	sampleEvery = 64
	// enoughMeetings is how often two processors must be seen in a short time for a wheel to
	// use all its shards. Until then it uses one and pays nothing for affinity, which costs as
	// much as a lock.
	enoughMeetings = 16
)

// usage watches which processors use a wheel.
type usage struct {
	last  *token
	score int // a meeting adds 2, and a sample without one subtracts 1
}

// sample checks which processor is running. If it is another one than before, two have met.
func (u *usage) sample(spread *atomic.Bool) {
	t := tokens.Get().(*token)
	tokens.Put(t)
	if t == u.last {
		u.score = max(0, u.score-1)
		return
	}
	u.last = t
	u.meet(spread)
}

// meet sets spread when two processors have met often enough. They also meet when one has to wait for the lock.
func (u *usage) meet(spread *atomic.Bool) {
	if u.score += 2; u.score >= 2*enoughMeetings {
		spread.Store(true)
	}
}
