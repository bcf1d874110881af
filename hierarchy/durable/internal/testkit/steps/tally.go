package steps

import (
	"fmt"
	"time"
)

// Tally is what histories had.
type Tally struct {
	Histories, Operations, Faults int
	Time                          time.Duration // virtual
}

// Add adds what other histories had.
func (t *Tally) Add(o Tally) {
	t.Histories += o.Histories
	t.Operations += o.Operations
	t.Faults += o.Faults
	t.Time += o.Time
}

const tallyFormat = "simulated %d histories, %d s, %d operations, %d faults"

// String returns a line, which ParseTally reads.
func (t Tally) String() string {
	return fmt.Sprintf(tallyFormat, t.Histories, int64(t.Time/time.Second), t.Operations, t.Faults)
}

// ParseTally is the inverse of String. ok is false for other text.
func ParseTally(line string) (t Tally, ok bool) {
	var seconds int64
	n, _ := fmt.Sscanf(line, tallyFormat, &t.Histories, &seconds, &t.Operations, &t.Faults)
	t.Time = time.Duration(seconds) * time.Second
	return t, n == 4
}
