package durable

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
)

// Stats is a snapshot of the partitions that this process owns.
type Stats struct {
	Owned   int // the number of partitions that this process owns
	Damaged int // partitions whose logs are damaged
	Pending int // timers that are not dead
	Running int // attempts in progress, without those that an earlier owner has left (see Attempt.Token)
	Dead    int // timers whose last attempt failed
	// Stuck is the number of handlers that have not returned after twice Config.Timeout. They no longer count under
	// Concurrency, nor in Running.
	Stuck int
	// Oldest is the time for which the oldest running handler has been running. A handler counts even if its timer was
	// set, moved or removed meanwhile, and even if the handler is stuck. While Concurrency handlers hang without being
	// stuck, nothing fires.
	Oldest time.Duration

	// Since Open:
	Set, Moved, Removed uint64
	Fired               uint64 // attempts that began
	Failed              uint64 // attempts that failed
	Died                uint64 // timers, and runs of Schedules, that failed MaxAttempts times
	Expired             uint64 // dead timers that were removed after KeepDead
	Frames, Bytes       uint64 // frames, and their bytes, that were written to the logs
	Trimmed             uint64 // timers that were written again, to delete old frames

	LogBytes  int64 // approximate size of the logs on the disk
	LiveBytes int64 // approximate size of the live timers in the logs

	// Lateness is how long after its due time each attempt began. It includes time in which a partition had
	// no owner.
	Lateness hierarchy.Histogram
	// Commit is the time from sending each frame to its acknowledgement.
	Commit hierarchy.Histogram
	// Calls has the durations of the calls of this process that other processes answered. Each page of All or Dead is a
	// call, and so is each partition's part of a Batch. With Dir there are no such calls.
	Calls hierarchy.Histogram
	// Unanswered is the number of calls to other processes that had no answer: they returned ErrUnavailable, ErrClosed,
	// or the error of their context.
	Unanswered uint64
	// Skew is how far the wall clock is ahead of the owner's time, by which timers of Set are due: the wall time of
	// Open plus the time that has passed since. Skew is about 0 unless the wall clock was set since Open. With Conn,
	// the owner's time can also begin ahead of the wall clock, by at most MaxSkew, since it continues from the previous
	// owner's. While this process owns nothing, Skew is how far its wall clock is ahead of the servers', or 0 in a
	// caller.
	Skew time.Duration

	// Partitions has the figures of each partition, in order.
	Partitions []PartitionStats
	// Members has, with Config.Conn, the processes that share the partitions, as far as this process knows. Callers are
	// not among them.
	Members []MemberStats
}

// MemberStats is one of the processes that share the partitions.
type MemberStats struct {
	ID      string // unique, and never reused
	Text    string // host, process and ID, as in logs
	Self    bool   // whether it is this process
	Leaving bool   // whether it is shutting down and hands its partitions over
	Owned   int    // the number of partitions that the process owns
}

// Stats returns a snapshot. Its cost does not depend on the number of timers. Partitions are read one after
// the other.
func (w *Keyed[K, V]) Stats() (st Stats) {
	st.Oldest, st.Stuck = w.crew.Oldest(), w.crew.Stuck()
	st.Partitions = make([]PartitionStats, w.owners.Len())
	members, of := w.owners.Members()
	for _, m := range members {
		st.Members = append(st.Members, MemberStats(m))
	}
	if s, ok := w.owners.(*cluster.Cluster); ok {
		st.Skew = s.Skew()
	}
	if s, ok := w.owners.(interface{ Calls() remote.Stats }); ok {
		calls := s.Calls()
		st.Calls, st.Unanswered = calls.Answered, calls.Unanswered
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

// add adds the figures of a partition to the sums.
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
	st.Died += p.Died
	st.Expired += p.Expired
	st.Frames += p.Frames
	st.Bytes += p.Bytes
	st.Trimmed += p.Trimmed
	st.LogBytes += p.LogBytes
	st.LiveBytes += p.LiveBytes
	st.Lateness.Merge(p.Lateness)
	st.Commit.Merge(p.Commit)
}
