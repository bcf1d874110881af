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
		go t.deleteBefore(t.core.Begins())
	}
}

// deleteBefore deletes the frames before begin, and retries until it has succeeded: the log may be full, and then no
// further frame would trigger another attempt. If a frame needs the room, it retries at once.
func (t *trimmer) deleteBefore(begin uint64, loose int64) {
	for retry := (wait.Backoff{First: trimPause, Last: time.Minute}); ; {
		err := t.cfg.Log.Trim(t.writing, begin)
		if err == nil {
			break
		}
		t.warn(err)
		select {
		case <-time.After(retry.Next()):
		case <-t.needed:
			retry.Reset()
		case <-t.writing.Done():
			return
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.core.Deleted(loose)
	close(t.deleted)
	t.deleted = nil
	if t.core.Full && t.core.Loose > 0 {
		t.deleteLoose()
	}
}

// makeRoom is called when the outcome of a frame is unknown. The log may be full, so makeRoom deletes the frames before
// begin.
func (t *trimmer) makeRoom() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.core.Full = true
	t.deleteLoose()
}

// hasRoomFor reports whether a frame fits into the log. If a deletion has to make room first, hasRoomFor makes sure
// that one is in progress, and returns a channel that is closed when that deletion has ended.
func (t *trimmer) hasRoomFor(size int) (deleted <-chan struct{}, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.core.HasRoom(size) {
		return nil, true
	}
	t.deleteLoose()
	t.needed.Set()
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
