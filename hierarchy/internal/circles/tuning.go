package circles

// Tuning holds the sizes that choose between algorithms. They affect speed, not the time at
// which a timer is due. Tests make them small, so that few timers are a crowd.
type Tuning struct {
	// SortUpTo is the longest list that is sorted where it is. A longer one that is out
	// of order is cascaded to finer circles, unless it is on the finest.
	SortUpTo int
	// PourAheadFrom is the smallest crowd that is poured ahead of its time. A smaller
	// one is poured within the default Precision, and what is poured just before it
	// fires is still in the processor's caches then.
	PourAheadFrom int
	// GatherUpTo is the largest slot that is gathered though not all of it is due. That
	// bounds the memory which gathering needs, and the steps that are not divided into
	// portions: an array is made and copied. A larger slot is poured, if it can be.
	GatherUpTo int
	// DeadUpTo is how many entries of what was gathered may be dead without need: as many as
	// are live may be in any case. Below that, it costs more to sweep them out than to wait
	// for their turn.
	DeadUpTo int
	// PourTime is how long before its time a crowd begins to be poured ahead, in
	// nanoseconds for each timer in it: some times as long as it takes.
	PourTime int64
	// SweepRatio decides how a crowd is gone through. If at least one of so many nodes,
	// live or not, is in the crowd's slot, all nodes are gone through in the order of
	// memory. Otherwise the slot's list is followed, each step of which waits for
	// memory unless the timers were set in this order.
	SweepRatio int
}

// DefaultTuning is what benchmarks have shown to be best.
func DefaultTuning() Tuning {
	return Tuning{SortUpTo: 32, PourAheadFrom: 4096, GatherUpTo: 1 << 15, DeadUpTo: 1 << 10, PourTime: 1500, SweepRatio: 16}
}

const (
	// lag is how far the hand may stay behind before a set moves it on.
	lag = 1 << 16
	// pourPerTimer is how many nodes are poured before each timer that fires. Those that
	// are due don't wait for a crowd to be poured, nor does the crowd wait for all of them.
	pourPerTimer = 2
	// sweptPerPoured is how many nodes may be looked at in the order of memory, instead of
	// one that is poured.
	sweptPerPoured = 8
)
