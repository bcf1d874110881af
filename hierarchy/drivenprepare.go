package hierarchy

const (
	// prepareEvery is the number of timers after which Expire prepares crowds.
	prepareEvery = 8
	// prepareBudget is about the number of nodes that Expire visits each time it prepares crowds, which takes some tens
	// of microseconds.
	prepareBudget = 256
	// prepareEach is the number of nodes that Expire visits for each new timer, if the new timers may be a crowd.
	prepareEach = 8
	// manyNew is the least number of new timers that may include a crowd.
	manyNew = 512
)

// prepare sorts or spreads crowds that are due soon, in small portions, so that no later timer takes long. If enough
// timers were set to be a crowd, prepare does more work, in proportion to their number.
func (d *Driven[T]) prepare(now int64) {
	budget := prepareBudget
	if d.unseen >= manyNew {
		budget = prepareEach * d.unseen
	} else if d.popped++; d.popped < prepareEvery {
		return
	}
	d.popped, d.unseen = 0, 0
	d.timers.CascadeAhead(now, budget)
}
