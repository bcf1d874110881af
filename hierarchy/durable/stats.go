package durable

// Stats is a snapshot of this process's part.
type Stats struct {
	Owned   int // partitions
	Damaged int // partitions whose logs are damaged
	Pending int // timers that are not dead
	Running int // attempts that are under way
	Dead    int

	// Since Open:
	Set, Moved, Removed uint64
	Fired               uint64 // attempts that began
	Failed              uint64 // attempts that failed
	Frames, Bytes       uint64 // written to the logs
	Trimmed             uint64 // timers that were written again, to delete old frames

	LogBytes  int64 // about what the logs take on the disk
	LiveBytes int64 // about what the timers take of it
}

// Stats returns a snapshot. It does not walk over timers.
func (w *Keyed[K, V]) Stats() (st Stats) {
	for _, p := range w.parts {
		if p.err != nil {
			st.Damaged++
			continue
		}
		s := p.Stats()
		st.Owned++
		st.Pending += s.Pending
		st.Running += s.Running
		st.Dead += s.Dead
		st.Set += s.Set
		st.Moved += s.Moved
		st.Removed += s.Removed
		st.Fired += s.Fired
		st.Failed += s.Failed
		st.Frames += s.Frames
		st.Bytes += s.Bytes
		st.Trimmed += s.Trimmed
		st.LogBytes += s.LogBytes
		st.LiveBytes += s.LiveBytes
	}
	return st
}
