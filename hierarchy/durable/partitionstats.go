package durable

import "github.com/epicycle-go/epicycle/hierarchy"

// PartitionStats is the part of Stats that is of one partition. Its fields mean what those of Stats
// mean.
type PartitionStats struct {
	// Err says why the partition is not owned: its log is damaged. All figures are 0 then.
	Err error

	Pending, Running, Dead int
	Set, Moved, Removed    uint64
	Fired, Failed          uint64
	Frames, Bytes          uint64
	Trimmed                uint64
	LogBytes, LiveBytes    int64
	Lateness, Commit       hierarchy.Histogram
}

func (p *part) stats() PartitionStats {
	if p.err != nil {
		return PartitionStats{Err: p.err}
	}
	s := p.Stats()
	return PartitionStats{
		Pending: s.Pending, Running: s.Running, Dead: s.Dead,
		Set: s.Set, Moved: s.Moved, Removed: s.Removed, Fired: s.Fired, Failed: s.Failed,
		Frames: s.Frames, Bytes: s.Bytes, Trimmed: s.Trimmed, LogBytes: s.LogBytes, LiveBytes: s.LiveBytes,
		Lateness: s.Lateness, Commit: s.Commit,
	}
}
