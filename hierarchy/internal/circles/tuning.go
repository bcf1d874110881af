package circles

// Tuning holds the sizes that choose between algorithms. They affect speed, not the time at which
// a timer is due. Tests make them small, so that few timers are a crowd.
type Tuning struct {
	// SortUpTo is the largest number of entries of a slot that is sorted. A slot with more entries, a crowd, is cascaded
	// over finer circles.
	SortUpTo int
	// LeadTime determines when cascading a crowd ahead begins: LeadTime nanoseconds for each of its entries before the
	// slot starts. Cascading an entry takes only a fraction of LeadTime.
	LeadTime int64
	// WholeSlot makes cascading begin at least the width of the slot before the slot starts. It is for callers whose time
	// passes in steps.
	WholeSlot bool
}

// DefaultTuning returns the sizes that were best in benchmarks.
func DefaultTuning() Tuning { return Tuning{SortUpTo: 512, LeadTime: 500} }

const (
	// lag is the longest time by which the hand may stay behind the present time when a timer is set. If it is further
	// behind, it is advanced.
	lag = 1 << 16
	// readTogether is the most nodes that are read before any of them is looked at. There are few instructions between two
	// such reads, so the processor waits for all of them at once, and not for one after the other.
	readTogether = 32
	// Stale entries are swept out once they are more than the nodes and sweepFrom together. Then readTogether entries
	// are read whenever a node is added, moved or removed.
	sweepFrom = 1024
	// Before every besideEvery-th timer that is due, besideBudget entries of crowds are cascaded ahead.
	besideEvery  = 8
	besideBudget = 48
)
