package durable

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// PartitionStats has the figures of one partition. Fields mean the same as those of Stats with the same name, counted
// while this process owned the partition.
type PartitionStats struct {
	Owned bool // whether this process owns the partition and can write to its log
	// Owner is, with Config.Conn, the Text of the owner in Stats.Members. It is "" if there is no owner.
	Owner string
	// Err is ErrDamaged, wrapped, if the log is damaged, otherwise nil. This process does not own a damaged partition.
	Err error
	// Unavailable is the time since which this process has been waiting for the log: it owns the partition but an
	// append has had no answer, or it should own the partition but can't take over, or its connection is closed for
	// good. In a caller, it is the time since which no process has owned the partition. Otherwise it is zero.
	Unavailable time.Time

	Pending, Running, Dead int
	Stuck                  int // stuck handlers (see Stats.Stuck) of this partition, if this process still owns it
	Set, Moved, Removed    uint64
	Fired, Failed          uint64
	Died, Expired          uint64
	Frames, Bytes          uint64
	Trimmed                uint64
	LogBytes, LiveBytes    int64
	Lateness, Commit       hierarchy.Histogram
}

func partitionStats(s partition.Stats) PartitionStats {
	return PartitionStats{
		Unavailable: s.Unavailable,
		Pending:     s.Pending, Running: s.Running, Stuck: s.Stuck, Dead: s.Dead,
		Set: s.Set, Moved: s.Moved, Removed: s.Removed, Fired: s.Fired, Failed: s.Failed,
		Died: s.Died, Expired: s.Expired,
		Frames: s.Frames, Bytes: s.Bytes, Trimmed: s.Trimmed, LogBytes: s.LogBytes, LiveBytes: s.LiveBytes,
		Lateness: s.Lateness, Commit: s.Commit,
	}
}
