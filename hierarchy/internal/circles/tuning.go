package circles

// Tuning holds the sizes that choose between algorithms. They affect speed, not the time at which
// a timer is due. Tests make them small, so that few timers are a crowd.
type Tuning struct {
	// SortUpTo is the largest slot that is sorted. A larger one, a crowd, is dealt over finer slots.
	SortUpTo int
	// LeadTime is how long before its time dealing a crowd ahead begins, in nanoseconds for each of its entries: a
	// multiple of how long dealing takes.
	LeadTime int64
	// WholeSlot makes it begin at least a slot's width before its time, for time that passes in steps.
	WholeSlot bool
}

// DefaultTuning returns the sizes that were best in benchmarks.
func DefaultTuning() Tuning { return Tuning{SortUpTo: 512, LeadTime: 500} }

const (
	// lag is how far the hand may stay behind before setting a timer advances it.
	lag = 1 << 16
	// readTogether is how many nodes are read one after the other without using what was read, so that no read waits
	// for another one. There must be few instructions between two reads, so that the processor reaches the last one
	// while it waits for the first.
	readTogether = 32
	// Stale entries are swept out once there are more of them than nodes and sweepFrom: readTogether entries are read
	// whenever a node is added, moved or removed.
	sweepFrom = 1024
	// Before every besideEvery-th timer that is due, besideBudget entries of crowds are dealt ahead.
	besideEvery  = 8
	besideBudget = 48
)
