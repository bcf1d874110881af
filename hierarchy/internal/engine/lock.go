package engine

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// mutex is a sync.Mutex whose callers spin for a few microseconds before they sleep. Shards are mostly locked for less
// than a microsecond, while waking a goroutine takes a hundred microseconds, and meanwhile other callers may have
// locked the mutex again.
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
	looks = 400 // the most times that wait tries to lock before it sleeps
	pause = 40  // steps of the loop that passes the time between two tries
)

var severalProcessors = runtime.NumCPU() > 1

// part is a part of something that several processors use, for example a shard.
type part interface{ lock() *mutex }

// lockOwn locks the part of the running processor. If another processor has locked that part, the running processor
// uses the next part from now on. So in the end each processor has a part of its own. The number of parts is a power of
// two.
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
// there. The number of the token determines which shard of each wheel that processor should use, so that the processor
// finds the shard's lock and memory in its own cache. If a token is garbage collected, or moves with a goroutine, only
// speed is lost.
type token struct{ number int }

var (
	tokens = sync.Pool{New: func() any { return &token{int(issued.Add(1))} }}
	issued atomic.Int32
)

const (
	// sampleEvery is the number of timers after which the wheel checks which processor is running.
	sampleEvery = 64
	// enoughMeetings is the number of meetings of two processors in a short time after which a wheel uses all its
	// shards. Until then the wheel uses one shard. So it pays nothing for affinity, which costs as much as a lock.
	enoughMeetings = 16
)

// usage watches which processors use a wheel.
type usage struct {
	last  *token
	score int // a meeting adds 2, and a sample without one subtracts 1
}

// sample checks which processor is running. If another processor was running at the last sample, two processors have
// met.
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

// meet sets spread when two processors have met often enough. Two processors also meet when one has to wait for the
// lock.
func (u *usage) meet(spread *atomic.Bool) {
	if u.score += 2; u.score >= 2*enoughMeetings {
		spread.Store(true)
	}
}
