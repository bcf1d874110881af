package partition

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// This file shows how trimming deletes the frames before the frame with which the log begins.

// deleteLoose begins to delete the frames before begin, unless a deletion is in progress.
func (t *trimmer) deleteLoose() {
	t.mu.assertHeld()
	if t.deleted == nil {
		t.deleted = make(chan struct{})
		go t.deleteBefore(t.begin, t.loose)
	}
}

// deleteBefore deletes the frames before begin, and retries until it has succeeded: the log may be full, and then no
// further frame would trigger another attempt.
func (t *trimmer) deleteBefore(begin uint64, loose int64) {
	for retry := (wait.Backoff{First: trimPause, Last: time.Minute}); ; {
		err := t.cfg.Log.Trim(t.writing, begin)
		if err == nil {
			break
		}
		t.warn(err)
		if !retry.Wait(t.writing) {
			return
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.loose = max(0, t.loose-loose) // a follower may have read the log from the beginning again
	close(t.deleted)
	t.deleted = nil
	if t.full && t.loose > 0 {
		t.deleteLoose()
	}
}

// makeRoom is called when the outcome of a frame is unknown. The log may be full, so makeRoom deletes the frames before
// begin.
func (t *trimmer) makeRoom() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.full = true
	t.deleteLoose()
}

// hasRoomFor reports whether a frame fits into the log. If a deletion has to make room first, hasRoomFor makes sure
// that one is in progress, and returns a channel that is closed when that deletion has ended.
func (t *trimmer) hasRoomFor(size int) (deleted <-chan struct{}, ok bool) {
	most := t.reader.most.Load()
	if most == 0 { // no limit
		return nil, true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.loose == 0 || t.total+t.loose+int64(size+messageOverhead) <= most {
		return nil, true
	}
	t.deleteLoose()
	return t.deleted, false
}

// awaitRoom waits until deletions have made room for a frame, but no longer than the writer waits for an answer of the
// log.
func (t *trimmer) awaitRoom(size int) {
	ctx, cancel := t.cfg.Patience.WithTimeout(t.writing)
	defer cancel()
	for {
		deleted, ok := t.hasRoomFor(size)
		if ok {
			return
		}
		select {
		case <-deleted:
		case <-ctx.Done():
			return
		}
	}
}
