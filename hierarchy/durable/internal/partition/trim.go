package partition

import (
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

const (
	// messageOverhead is about what the log needs for a frame beside its bytes.
	messageOverhead = 160
	// keepOps is how many timers are written again in one frame at most, beside what callers ask
	// for, and keepBytes about how many bytes.
	keepOps   = 500
	keepBytes = 256 << 10
	// trimFrames is how many frames are read at once.
	trimFrames = 16
	// deleteBytes is how much must be before begin to have the log deleted there. Deleting takes
	// as long as some hundred appends.
	deleteBytes = 1 << 20
)

// trims is the state of trimming. It is guarded by Partition.mu.
type trims struct {
	begin   uint64   // the begin that the last frame has
	sizes   []uint32 // of the frames from begin on, and 0 for a message that is none
	total   int64    // their sum
	loose   int64    // bytes before begin that were not deleted yet
	under   bool     // a portion is being read, or written
	deletes bool     // what is before begin is being deleted
	portion *portion // what is to be written, if not nil

	pause   time.Time // nothing is tried before, after a failure
	warning seldom    // has a lock of its own

	unread uint64 // the frame at begin that could not be read, and
	tries  int    // how often
}

const trimPause = time.Second // after a failure

// portion is what is live in the oldest frames.
type portion struct {
	timers   []homed
	requests []homedRequest
	begin    uint64 // where the log may begin when they were written again
}

// homed is a timer that was in the frame home when it was looked at.
type homed struct {
	ref  state.Ref
	home uint64
}

// homedRequest is a request whose answer was in the frame home.
type homedRequest struct {
	id   state.Request
	home uint64
}

// appended counts the frame with that number.
func (t *trims) appended(number uint64, size int) {
	if t.begin == 0 {
		t.begin = number
	}
	for t.begin+uint64(len(t.sizes)) < number { // a stranger's message
		t.sizes = append(t.sizes, 0)
	}
	t.sizes = append(t.sizes, uint32(size+messageOverhead))
	t.total += int64(size + messageOverhead)
}

// advance says that the log may begin at begin.
func (t *trims) advance(begin uint64) {
	if begin <= t.begin {
		return
	}
	n := begin - t.begin
	for _, size := range t.sizes[:n] {
		t.total -= int64(size)
		t.loose += int64(size)
	}
	t.sizes, t.begin = t.sizes[n:], begin
}

// needed tells whether the log is larger than it may be: twice the keys and values, and a constant.
// What is live takes more than these, by a quarter for 100 bytes, so that less than twice of it is
// allowed.
func (p *Partition) needed() bool { return p.excess() > 0 && len(p.trims.sizes) > 1 }

// excess is by how much the log is larger than it may be.
func (p *Partition) excess() int64 {
	live := p.state.Bytes()
	return p.trims.total - (live + live*5/8 + p.above())
}

func (p *Partition) above() int64 { return p.share(p.cfg.TrimAbove) }

// share is bytes, or what a limit of the log's size allows of them. Trimming has to append before it may delete, so a
// log that is full could not be trimmed. If up to half of that size is live, the log never is: 13/16 are for that,
// twice 1/16 until callers wait for trimming, and 1/16 until what was trimmed is deleted.
func (p *Partition) share(bytes int64) int64 {
	if p.most > 0 {
		bytes = min(bytes, p.most/16)
	}
	return bytes
}

// mustWait tells whether the log is so large that callers wait until a portion was read.
func (p *Partition) mustWait() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trims.under && p.trims.portion == nil && p.excess() > p.above()
}

// awaitPortion waits while mustWait. If reading fails, that ends.
func (p *Partition) awaitPortion() {
	for p.mustWait() {
		select {
		case <-p.queue.signal:
		case <-p.writing.Done():
			return
		}
	}
}

// hurried tells whether callers write faster than trimming does. Then they wait for frames that
// have only what trimming writes again, and as much of it as fits.
func (p *Partition) hurried() bool {
	return p.trims.portion != nil && p.excess() > p.above()/2
}

// trimIfNeeded has a portion be read, if none is under way.
func (p *Partition) trimIfNeeded() {
	p.mu.Lock()
	need := !p.trims.under && p.needed() && !time.Now().Before(p.trims.pause)
	p.trims.under = p.trims.under || need
	begin, end := p.trims.begin, p.head.Number
	p.mu.Unlock()
	if need {
		go p.readPortion(begin, min(end, begin+trimFrames))
	}
}

// readPortion finds out what is live in the frames from begin on, before end, and wakes the writer.
func (p *Partition) readPortion(begin, end uint64) {
	found := &portion{begin: begin}
	seen := make(map[homed]bool)
	for data, err := range p.cfg.Log.Read(p.writing, begin, end-1) {
		if err == nil {
			err = p.findLive(data, found, seen)
		}
		if err != nil && found.begin > begin { // what is before it is written first
			break
		}
		if err != nil && !p.passes(begin, err) {
			p.trimFailed(err)
			return
		}
		if err != nil {
			p.recall(found, seen)
		}
		if found.begin++; err != nil || len(found.timers)+len(found.requests) >= MaxOps {
			break
		}
	}
	p.mu.Lock()
	for p.trims.sizes[found.begin-p.trims.begin] == 0 { // the log has to begin at a frame
		found.begin++
	}
	p.trims.portion = found
	p.mu.Unlock()
	p.queue.wake()
}

// findLive adds what is live in one frame.
func (p *Partition) findLive(data []byte, found *portion, seen map[homed]bool) error {
	f, err := p.parse(data, found.begin)
	switch {
	case errors.Is(err, errStranger) && p.isOurs(found.begin):
		return damaged("frame %d is not what it was", found.begin)
	case errors.Is(err, errStranger):
		return nil
	case err != nil:
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for op, err := range f.Ops() {
		if err != nil {
			return err
		}
		if op.Kind == frame.Request {
			if id := (state.Request{Caller: op.Caller, Serial: op.Serial}); p.state.AnswerHome(id, f.Number) {
				found.requests = append(found.requests, homedRequest{id, f.Number})
			}
			continue
		}
		if op.Kind != frame.Set && op.Kind != frame.SetAt && op.Kind != frame.Keep {
			continue
		}
		t, ref, ok := p.state.Find(op.Key)
		if h := (homed{ref, f.Number}); ok && t.Home == f.Number && !seen[h] {
			seen[h] = true
			found.timers = append(found.timers, h)
		}
	}
	return nil
}

// trimFailed gives up, until the next frame after a pause.
func (p *Partition) trimFailed(err error) {
	p.mu.Lock()
	p.trims.under, p.trims.pause = false, time.Now().Add(trimPause)
	p.mu.Unlock()
	p.queue.wake()
	p.warnTrim(err)
}

// warnTrim logs a failure now and then.
func (p *Partition) warnTrim(err error) {
	if p.writing.Err() == nil && p.trims.warning.due() {
		p.cfg.Logger.Warn("durable: trimming has failed", "partition", p.cfg.Partition, "err", err)
	}
}

// trimReady tells whether a portion is to be written.
func (p *Partition) trimReady() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trims.portion != nil
}
