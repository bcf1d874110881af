package durable

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// PartitionStats has the figures of one partition. Fields mean what those of Stats with the same name mean:
// they count what has happened while this process owned the partition.
type PartitionStats struct {
	Owned bool // whether this process owns the partition and can write to its log
	// Owner is the Text of the owner among Members, with Config.Conn, or "".
	Owner string
	// Err is not nil if the log is damaged. Then this process does not own the partition.
	Err error
	// Unavailable is the time since which this process has been waiting for the log: it owns the partition but an
	// append has had no answer, or it should own it but can't take over, or its connection is closed for good. In a
	// caller, it is the time since which no process owns the partition. Else it is zero.
	Unavailable time.Time

	Pending, Running, Dead int
	Stuck                  int // those of Stats.Stuck whose partition this process still owns
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
