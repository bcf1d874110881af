package durable

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Stats is a snapshot of this process's part.
type Stats struct {
	Owned   int // partitions
	Damaged int // partitions whose logs are damaged
	Pending int // timers that are not dead
	Running int // attempts that are under way
	Dead    int
	// Oldest is how long the handler has been running that was called first of those that run, also if its
	// timer was set, moved or removed meanwhile. Where Concurrency handlers hang, nothing fires.
	Oldest time.Duration

	// Since Open:
	Set, Moved, Removed uint64
	Fired               uint64 // attempts that began
	Failed              uint64 // attempts that failed
	Frames, Bytes       uint64 // written to the logs
	Trimmed             uint64 // timers that were written again, to delete old frames

	LogBytes  int64 // about what the logs take on the disk
	LiveBytes int64 // about what the timers take of it

	// Lateness is how long after its time each attempt began. After a time without an owner, the
	// timers that were due meanwhile are late by it.
	Lateness hierarchy.Histogram
	// Commit is how long each frame took from sending to its acknowledgement.
	Commit hierarchy.Histogram
	// Skew is how far the wall clock is ahead of the time by which timers of Set go: that of Open
	// and what has passed since. It is about 0 unless the wall clock was set since. With Conn, the clocks of the
	// last owners count, too, within MaxSkew. While this process owns nothing, it is how far the wall clock is
	// ahead of the servers'.
	Skew time.Duration

	// Partitions has the figures of each partition, in their order.
	Partitions []PartitionStats
	// Members has the processes that share the partitions, with Config.Conn, as this one knows them.
	Members []MemberStats
}

// MemberStats is one of the processes that share the partitions.
type MemberStats struct {
	ID      string // no other process has it, and none has it again
	Text    string // host and process, and the ID if several have the same
	Self    bool   // it is this process
	Leaving bool   // it gives its partitions to others
	Owned   int    // partitions
	// The latest versions of the log, and of messages between processes, that it reads: see DESIGN.md.
	Log, Wire int
}

// Stats returns a snapshot. It does not walk over timers. Partitions are read one after the other.
func (w *Keyed[K, V]) Stats() (st Stats) {
	st.Oldest = w.crew.Oldest()
	st.Partitions = make([]PartitionStats, w.owners.Len())
	members, of := w.owners.Members()
	for _, m := range members {
		st.Members = append(st.Members, MemberStats(m))
	}
	if s, ok := w.owners.(*shared); ok {
		st.Skew = s.Skew()
	}
	for at := range st.Partitions {
		p := &st.Partitions[at]
		s, owned, err := w.owners.Stats(at)
		*p = partitionStats(s)
		p.Owned, p.Err = owned, err
		if of != nil && of[at] >= 0 {
			p.Owner = members[of[at]].Text
		}
		if owned {
			st.Skew = s.Skew
		}
		st.add(p)
	}
	return st
}

// add adds the figures of a partition to those of all.
func (st *Stats) add(p *PartitionStats) {
	if p.Err != nil {
		st.Damaged++
	}
	if p.Owned {
		st.Owned++
	}
	st.Pending += p.Pending
	st.Running += p.Running
	st.Dead += p.Dead
	st.Set += p.Set
	st.Moved += p.Moved
	st.Removed += p.Removed
	st.Fired += p.Fired
	st.Failed += p.Failed
	st.Frames += p.Frames
	st.Bytes += p.Bytes
	st.Trimmed += p.Trimmed
	st.LogBytes += p.LogBytes
	st.LiveBytes += p.LiveBytes
	st.Lateness.Merge(p.Lateness)
	st.Commit.Merge(p.Commit)
}
