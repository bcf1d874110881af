package circles

// State is what a Verdict says.
type State uint8

const (
	// Empty says that there is no timer.
	Empty State = iota
	// Due says that the earliest timer is due.
	Due
	// NotBefore says that no timer is due before a time, which is later than now.
	NotBefore
	// AskAgain says that there was too much to do for one call.
	AskAgain
)

// Verdict is what Next found.
type Verdict struct {
	State State
	Node  uint32 // of Due: the earliest timer; of NotBefore: the first that is due, or another of its deadline, or 0 if it is not known
	At    int64  // of Due: its deadline; of NotBefore: the time
}
