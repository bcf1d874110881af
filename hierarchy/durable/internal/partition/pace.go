package partition

import "time"

// pace learns how many frames can be on their way to servers at once. As long as a frame takes hardly
// longer than one that was alone, there can be more of them. If it takes longer, they wait for each
// other, and fewer of them that hold more bring as much.
type pace struct {
	places float64
	alone  time.Duration // that a frame took which waited for few others: the least in the last window
	least  time.Duration // in this window
	end    time.Time     // of this window
}

const (
	fewestPlaces, mostPlaces = 2, 64

	paceWindow = 10 * time.Second // after which the servers may be faster or slower
	paceSlack  = 1.5              // how much longer a frame may take than one that was alone
	paceGain   = 0.2              // how much a frame changes
)

// learn returns how many places there are when a frame took that long.
func (p *pace) learn(now time.Time, took time.Duration) int {
	if now.After(p.end) { // find out anew what a frame takes that is almost alone
		p.alone, p.least, p.places, p.end = p.least, took, fewestPlaces, now.Add(paceWindow)
		if p.alone == 0 {
			p.alone = took
		}
	}
	p.least = min(p.least, took)
	free := min(1, paceSlack*float64(min(p.alone, p.least))/float64(took))
	p.places += paceGain * (1 - p.places*(1-free))
	p.places = min(mostPlaces, max(fewestPlaces, p.places))
	return int(p.places)
}
