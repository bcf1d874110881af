package circles

// Tuning holds the sizes that choose between algorithms. They affect speed, not the time at which
// a timer is due. Tests make them small, so that few timers are a crowd.
type Tuning struct {
	// SortUpTo is the largest slot that is sorted. A larger one, a crowd, is dealt over finer slots.
	SortUpTo int
	// LeadTime is how long before its time a crowd begins to be dealt ahead, in nanoseconds for
	// each of its entries: some times as long as it takes.
	LeadTime int64
	// WholeSlot has it begin a slot's width before its time, if that is earlier: time passes in
	// steps.
	WholeSlot bool
}

// DefaultTuning returns what benchmarks have shown to be best.
func DefaultTuning() Tuning { return Tuning{SortUpTo: 512, LeadTime: 500} }

const (
	// lag is how far the hand may stay behind before a set moves it on.
	lag = 1 << 16
	// readTogether is how many nodes are read one after the other without a look at what was read,
	// so that no read waits for another one. Few instructions may be between two of them, or the
	// processor does not come as far as the last one while it waits for the first.
	readTogether = 32
	// Stale entries are swept out once there are more of them than nodes and sweepFrom: readTogether
	// are looked at when a node is added, moved or removed.
	sweepFrom = 1024
	// Before every besideEvery-th timer that is due, besideBudget entries of crowds are dealt ahead.
	besideEvery  = 8
	besideBudget = 48
)
