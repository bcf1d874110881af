package partition

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

const (
	// messageOverhead is about the number of bytes that the log needs for a message in addition to those of the frame.
	messageOverhead = 160
	// keepOps is the largest number of timers that one frame with operations of callers writes again, and keepBytes is
	// about the largest number of their bytes.
	keepOps   = 500
	keepBytes = 256 << 10
	// trimFrames is the number of frames that are read at once.
	trimFrames = 16
	// deleteBytes is the number of bytes before begin at which these bytes are deleted. Deleting takes as long as some
	// hundred appends.
	deleteBytes = 1 << 20
)

// trimmer keeps a log small: it writes the timers and answers that are live in the oldest frames again, and deletes
// these frames. The writer calls it. Meanwhile goroutines of the trimmer read and delete. Partition.mu guards the
// fields after mu.
type trimmer struct {
	cfg     *Config
	reader  *reader
	writing context.Context // the context of the writer
	queue   *queue          // the queue of the writer, to wake the writer when there is something to write
	warning seldom

	mu    *mutex // Partition.mu, as it guards the state
	state *state.State
	room  []byte // memory for keys and values that are written again
	span

	under   bool      // a portion is being read or written
	portion *portion  // the portion that must be written, or nil
	pause   time.Time // after a failure: the time before which nothing is tried

	deleted chan struct{} // closed when the frames before begin were deleted; nil if no deletion is in progress

	unread uint64 // the number of the frame at begin that could not be read
	tries  int    // the number of failed reads of the frame unread
}

const trimPause = time.Second // the pause after a failure

// portion holds the timers and answers that are live in the oldest frames.
type portion struct {
	live  []homed
	seen  map[homed]bool // the members of live, including those that were removed from it
	begin uint64         // where the log may begin after all of live was written again
}

// homed is a timer, or the answer of a request, that was last written in the frame home when the trimmer looked at it.
type homed struct {
	ref    state.Ref // 0 for an answer
	answer state.Request
	home   uint64
}

// add adds h to live, unless it was added before.
func (p *portion) add(h homed) {
	if !p.seen[h] {
		p.seen[h] = true
		p.live = append(p.live, h)
	}
}

// needed reports whether the log is larger than its limit: about twice the keys and values, plus a constant. Frames are
// larger than the keys and values in them, by a quarter if these have 100 bytes, so the limit is 13/8 of the live data
// as frames.
func (t *trimmer) needed() bool { return t.excess() > 0 && len(t.sizes) > 1 }

// excess returns by how much the log is larger than its limit: see needed.
func (t *trimmer) excess() int64 {
	live := t.state.Bytes()
	return t.total - (live + live*5/8 + t.above())
}

func (t *trimmer) above() int64 { return t.share(t.cfg.TrimAbove) }

// share returns bytes, or less if the size of the log is limited. Trimming appends before it deletes, so it can't
// trim a full log. The log never gets full if at most half of the limit is live: 13/16 of the limit are then allowed
// for the live data (see excess), twice 1/16 until callers wait for trimming, and 1/16 until what was trimmed is
// deleted.
func (t *trimmer) share(bytes int64) int64 {
	if most := t.reader.most.Load(); most > 0 {
		bytes = min(bytes, most/16)
	}
	return bytes
}

// mustWait reports whether the log is so large that callers have to wait until a portion was read.
func (t *trimmer) mustWait() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.under && t.portion == nil && t.excess() > t.above()
}

// awaitPortion waits while mustWait is true. The wait also ends if reading fails.
func (t *trimmer) awaitPortion() {
	for t.mustWait() {
		select {
		case <-t.queue.signal:
		case <-t.writing.Done():
			return
		}
	}
}

// hurried reports whether callers write faster than trimming does. Then callers wait for frames that hold only timers
// and answers that trimming writes again, as many as fit.
func (t *trimmer) hurried() bool {
	return t.portion != nil && t.excess() > t.above()/2
}

// start begins to read a portion of the frames before end, if the log is too large and no portion is being read or
// written.
func (t *trimmer) start(end uint64) {
	t.mu.Lock()
	need := !t.under && t.needed() && !time.Now().Before(t.pause)
	t.under = t.under || need
	begin := t.begin
	t.mu.Unlock()
	if need {
		go t.read(begin, min(end, begin+trimFrames))
	}
}

// read finds the timers and answers that are live in the frames from begin until before end, and wakes the writer.
func (t *trimmer) read(begin, end uint64) {
	found := &portion{seen: make(map[homed]bool), begin: begin}
	for data, err := range t.cfg.Log.Read(t.writing, begin, end-1) {
		if err == nil {
			err = t.findLive(data, found)
		}
		if err != nil && found.begin > begin { // the portion before the failed frame is written first
			break
		}
		if err != nil && !t.passes(begin, err) {
			t.failed(err)
			return
		}
		if err != nil {
			t.recall(found)
		}
		if found.begin++; err != nil || len(found.live) >= core.MaxOps {
			break
		}
	}
	t.mu.Lock()
	for t.sizes[found.begin-t.begin] == 0 { // the log has to begin at a frame
		found.begin++
	}
	t.portion = found
	t.mu.Unlock()
	t.queue.signal.Set()
}

// findLive adds the timers and answers that are live in one frame to found.
func (t *trimmer) findLive(data []byte, found *portion) error {
	f, err := t.cfg.parse(data, found.begin)
	switch {
	case errors.Is(err, errStranger) && t.isOurs(found.begin):
		return damaged("frame %d is not what it was", found.begin)
	case errors.Is(err, errStranger):
		return nil
	case err != nil:
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for op, err := range f.Ops() {
		if err != nil {
			return err
		}
		switch op.Kind {
		case frame.Request:
			if id := (state.Request{Caller: op.Caller, Serial: op.Serial}); t.state.AnswerHome(id, f.Number) {
				found.add(homed{answer: id, home: f.Number})
			}
		case frame.Set, frame.SetAt, frame.Keep, frame.Import:
			if timer, ref, ok := t.state.Find(op.Key); ok && timer.Home == f.Number {
				found.add(homed{ref: ref, home: f.Number})
			}
		}
	}
	return nil
}

// failed gives the portion up. Trimming begins again with the first frame after a pause.
func (t *trimmer) failed(err error) {
	t.mu.Lock()
	t.under, t.pause = false, time.Now().Add(trimPause)
	t.mu.Unlock()
	t.queue.signal.Set()
	t.warn(err)
}

// warn logs a failure now and then.
func (t *trimmer) warn(err error) {
	if t.writing.Err() == nil && t.warning.due() {
		t.cfg.Logger.Warn("durable: trimming has failed", "partition", t.cfg.Partition, "err", err)
	}
}

// ready reports whether a portion must be written.
func (t *trimmer) ready() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.portion != nil
}
