package partition

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"

// A frame that can't be read any more while its owner lives has done no harm yet: all that is live is in memory.
// So what it had is written again, and the log goes on to begin behind it.

// unreadTries is how often a frame is read before it is passed. A server may have other reasons not to answer.
const unreadTries = 3

// passes reports whether a frame at the beginning of the log that can't be read is passed.
func (t *trimmer) passes(number uint64, err error) bool {
	t.mu.Lock()
	if t.unread != number {
		t.unread, t.tries = number, 0
	}
	t.tries++
	pass := t.tries >= unreadTries && t.writing.Err() == nil
	t.mu.Unlock()
	if pass {
		t.cfg.Logger.Error("durable: a frame can't be read any more; what it had is in memory, and is written again",
			"partition", t.cfg.Partition, "frame", number, "err", err)
	}
	return pass
}

// isOurs reports whether an owner has written the message with that number.
func (t *trimmer) isOurs(number uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return number >= t.begin && number-t.begin < uint64(len(t.sizes)) && t.sizes[number-t.begin] > 0
}

// recall adds what is live in the frame that can't be read, as the state knows it.
func (t *trimmer) recall(found *portion, seen map[homed]bool) {
	t.mu.Lock()
	c := t.state.Cursor()
	for _, id := range t.state.AnswersOf(found.begin) {
		found.requests = append(found.requests, homedRequest{id, found.begin})
	}
	t.mu.Unlock()
	for more := true; more; {
		t.mu.Lock()
		more = c.Take(scanBatch, func(ref state.Ref, timer state.Timer) {
			if h := (homed{ref, found.begin}); timer.Home == found.begin && !seen[h] {
				seen[h] = true
				found.timers = append(found.timers, h)
			}
		})
		t.mu.Unlock()
	}
	t.mu.Lock()
	c.Close()
	t.mu.Unlock()
}
