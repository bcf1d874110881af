package durable

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// PartitionStats is the part of Stats that is of one partition. Its fields mean what those of Stats
// mean.
type PartitionStats struct {
	Owned bool // by this process, which can write to its log. The timers of others' partitions are not counted here
	// Owner says whose the partition is, with Config.Conn: the Text of one of Members, or "".
	Owner string
	// Err says that the log is damaged. The partition is not owned then.
	Err error
	// Unavailable says since when this process waits for the log: it owns the partition, and a frame has had no
	// answer, or it should own it, and can't, or the connection is closed for good. It is zero if none is so.
	Unavailable time.Time

	Pending, Running, Dead int
	Set, Moved, Removed    uint64
	Fired, Failed          uint64
	Frames, Bytes          uint64
	Trimmed                uint64
	LogBytes, LiveBytes    int64
	Lateness, Commit       hierarchy.Histogram
}

func partitionStats(s partition.Stats) PartitionStats {
	return PartitionStats{
		Unavailable: s.Unavailable,
		Pending:     s.Pending, Running: s.Running, Dead: s.Dead,
		Set: s.Set, Moved: s.Moved, Removed: s.Removed, Fired: s.Fired, Failed: s.Failed,
		Frames: s.Frames, Bytes: s.Bytes, Trimmed: s.Trimmed, LogBytes: s.LogBytes, LiveBytes: s.LiveBytes,
		Lateness: s.Lateness, Commit: s.Commit,
	}
}
