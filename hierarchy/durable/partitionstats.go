package durable

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// PartitionStats has the figures of one partition. A field means the same as the field of Stats with the same name, but
// for this partition, counted while this process owned it.
type PartitionStats struct {
	Owned bool // whether this process owns the partition and can write to its log
	// Owner is, with Config.Conn, the Text of the owner in Stats.Members. It is "" if there is no owner.
	Owner string
	// Err is ErrDamaged, wrapped, if the log is damaged, otherwise nil. This process does not own a damaged partition.
	Err error
	// Unavailable is the time since which this process has been waiting for the log, or zero if it does not wait. If it
	// owns the partition, an append has had no answer. If it should own the partition, it can't take it over. In both
	// cases the connection may also be closed for good. In a caller, Unavailable is the time since which no process has
	// owned the partition.
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
