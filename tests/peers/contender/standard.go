package contender

import "time"

// standard is package time.
type standard struct{ kept []*time.Timer }

func openTime(c Config) (Timers, error) {
	return &standard{make([]*time.Timer, c.Kept)}, nil
}

func (s *standard) Set(i int, d time.Duration, f func()) error {
	t := time.AfterFunc(d, f)
	if i < len(s.kept) {
		s.kept[i] = t
	}
	return nil
}

func (s *standard) Stop(i int) bool                   { return s.kept[i].Stop() }
func (s *standard) Reset(i int, d time.Duration) bool { return s.kept[i].Reset(d) }
func (s *standard) Close()                            {}

// byHand implements Timers with heapTimers.
type byHand struct {
	*heapTimers
	kept []*item
}

func openHeap(c Config) (Timers, error) {
	return &byHand{newHeapTimers(), make([]*item, c.Kept)}, nil
}

func (h *byHand) Set(i int, d time.Duration, f func()) error {
	it := h.afterFunc(d, f)
	if i < len(h.kept) {
		h.kept[i] = it
	}
	return nil
}

func (h *byHand) Stop(i int) bool                   { return h.stop(h.kept[i]) }
func (h *byHand) Reset(i int, d time.Duration) bool { return h.reset(h.kept[i], d) }
func (h *byHand) Len() int                          { return h.count() }
func (h *byHand) Close()                            { h.close() }
