package partition

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// trimmer keeps a log small: it reads and deletes what the core says. The writer calls it. Meanwhile goroutines of the
// trimmer read and delete. Partition.mu guards pause and deleted.
type trimmer struct {
	*shared
	writing context.Context // the context of the writer
	queue   *queue          // the queue of the writer, to wake the writer when there is something to write
	warning seldom

	pause   time.Time     // after a failure: the time before which nothing is tried
	deleted chan struct{} // closed when the frames before begin were deleted; nil if no deletion is in progress
	needed  wait.Signal   // a frame needs the room that a deletion makes
}

const trimPause = time.Second // the pause after a failure

// awaitPortion waits while the log is so large that a portion has to be read first. The wait also ends if reading fails.
func (t *trimmer) awaitPortion() {
	for t.ask(t.core.TrimmingIsLate) {
		select {
		case <-t.queue.signal:
		case <-t.writing.Done():
			return
		}
	}
}

// ready reports whether a portion must be written.
func (t *trimmer) ready() bool { return t.ask(t.core.HasPortion) }

// ask returns what f returns while mu is held.
func (t *trimmer) ask(f func() bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return f()
}

// add adds what trimming writes again to the frame. It reports whether the frame has the whole portion.
func (t *trimmer) add(alone bool) bool {
	t.mu.assertHeld()
	whole, err := t.core.Keep(alone)
	if err != nil {
		go t.failed(fmt.Errorf("%w: %w", storage.ErrTooLarge, err))
	}
	return whole
}

// start begins to read a portion, if the log is too large and no portion is being read or written.
func (t *trimmer) start() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Now().Before(t.pause) {
		return
	}
	if found, end := t.core.StartTrimming(); found != nil {
		go t.read(found, end)
	}
}

// read finds the timers and answers that are live in the frames before end, and wakes the writer.
func (t *trimmer) read(found *core.Portion, end uint64) {
	begin := found.Begin
	for data, err := range t.cfg.Log.Read(t.writing, begin, end-1) {
		if err == nil {
			err = t.findLive(data, found)
		}
		if err != nil && found.Begin > begin { // the portion before the failed frame is written first
			break
		}
		if err != nil && !t.passes(begin, err) {
			t.failed(err)
			return
		}
		if err != nil {
			t.recall(found)
		}
		if found.Begin++; err != nil || found.IsFull() {
			break
		}
	}
	t.mu.Lock()
	t.core.Give(found)
	t.mu.Unlock()
	t.queue.signal.Set()
}

// findLive adds the timers and answers that are live in one frame to found.
func (t *trimmer) findLive(data []byte, found *core.Portion) error {
	f, err := t.cfg.parse(data, found.Begin)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case errors.Is(err, errStranger) && t.core.IsOurs(found.Begin):
		return damaged("frame %d is not what it was", found.Begin)
	case errors.Is(err, errStranger):
		return nil
	case err != nil:
		return err
	}
	return t.core.FindLive(&f, found)
}

// passes reports whether a frame at the beginning of the log that can't be read should be passed over.
func (t *trimmer) passes(number uint64, err error) bool {
	pass := t.ask(func() bool { return t.core.PassesOver(number) }) && t.writing.Err() == nil
	if pass {
		t.cfg.Logger.Error("durable: a frame can't be read any more; what it had is in memory, and is written again",
			"partition", t.cfg.Partition, "frame", number, "err", err)
	}
	return pass
}

// recall adds the timers and answers that, according to the state, are live in a frame that can't be read.
func (t *trimmer) recall(found *core.Portion) {
	t.mu.Lock()
	t.core.RecallAnswers(found)
	t.mu.Unlock()
	scan(&t.mu, t.core.State, func(ref state.Ref, timer state.Timer) { found.Recall(ref, &timer) }, func() bool { return true })
}

// failed gives the portion up. Trimming begins again with the first frame after a pause.
func (t *trimmer) failed(err error) {
	t.mu.Lock()
	t.core.GiveUp()
	t.pause = time.Now().Add(trimPause)
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
