package frame

import "fmt"

// Kind is the kind of an operation.
type Kind uint8

const (
	Set      Kind = 1 + iota // Key has Value from now on, with a new ID. Due is in the owner's time
	SetAt                    // like Set, but Due is a wall time
	Move                     // Key has a new Due, in the owner's time, and a new ID
	Remove                   // Key has no timer any more
	End                      // the handler of ID has returned nil: Key has no timer any more
	Begin                    // an attempt of ID begins or, with Name, is left: it has begun, and goes on until Next
	Fail                     // an attempt of ID failed. The next one is due at Next
	Die                      // the last attempt of ID failed
	Revive                   // the dead timer ID is due at Due, in the owner's time, and has no attempts
	Keep                     // a whole timer, written again by trimming
	Takeover                 // the log has a new owner. Text describes it to people
	Close                    // the owner has stopped in order
	Request                  // a caller's request was answered
	Next                     // the run Ended of a schedule has ended: the next run is due at Due, a wall time, with a new ID
	Start                    // the first attempt of a run of a schedule begins. The run makes up for Missed others
	Expire                   // the dead timer ID was removed after the time for which it is kept
	Import                   // a whole timer from another log. It replaces the timer of Key
	MoveAt                   // like Move, but Due is a wall time
	Pause                    // no attempt of the timer, which has a schedule, begins until a Resume
	Resume                   // the timer is not paused any more. If Moved, its run is over, and the next one due at Due, as with Next
	kinds
)

var kindNames = [kinds]string{
	Set: "set", SetAt: "setat", Move: "move", Remove: "remove", End: "end", Begin: "begin",
	Fail: "fail", Die: "die", Revive: "revive", Keep: "keep", Takeover: "takeover", Close: "close",
	Request: "request", Next: "next", Start: "start", Expire: "expire",
	Import: "import", MoveAt: "moveat", Pause: "pause", Resume: "resume",
}

func (k Kind) String() string {
	if k == 0 || k >= kinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// Renews reports whether operations of a kind give the timer a new ID. A Resume does so only if Moved.
func (k Kind) Renews() bool { return k <= Move || k == Next || k == MoveAt }

// renews reports whether the operation gives the timer a new ID.
func (op *Op) renews() bool { return op.Kind.Renews() || op.Kind == Resume && op.Moved }

// isKnown reports whether there are operations of a kind.
func (k Kind) isKnown() bool { return k > 0 && k < kinds }

// isWhole reports whether the operation has a whole timer.
func (k Kind) isWhole() bool { return k == Keep || k == Import }

// State is the state of a timer in a Keep, or an Import.
type State uint8

const (
	Waiting   State = iota // until Due, or until Next if Attempt is not 0
	Begun                  // the attempt with number Attempt has begun, and the log does not have its end
	Dead                   // the attempt with number Attempt was the last
	Left                   // the attempt with number Attempt was left: it goes on until Next, whoever owns the log
	Postponed              // no attempt counts, and the timer waits until Next
	states
)

// Op is one operation. Kind determines which fields it has. The others are zero.
type Op struct {
	Kind    Kind
	State   State  // Keep, Import
	Wall    bool   // SetAt, MoveAt, Next, a Resume if Moved, and a Keep of such a timer: Due is a wall time
	Attempt uint32 // Begin, Fail, Die, Keep
	ID      ID     // all operations on a timer except Remove. Set, SetAt, Move, MoveAt and Next: the new ID. Request: see Kept
	Due     int64  // Set, SetAt, Move, MoveAt, Revive, Keep, Next, and Start and Resume if Moved
	Next    int64  // Fail, Begin with Name, and a Keep that has attempts or is Postponed: when the next attempt is due
	Name    uint64 // Begin, and a Keep that is Left: the name of the attempt that was left, otherwise 0
	Key     []byte // all operations on a timer
	Value   []byte // Set, SetAt, Keep
	Text    []byte // Takeover
	More
	Ended uint64 // Next: the number of the ID of the run that has ended
	How   How    // Next: how that run ended
	Moved bool   // Start: Due and Missed of the run have changed. Resume: the timer has another run

	Caller  uint64 // Request: the caller's random number
	Serial  uint64 // Request: the serial number of the request
	Floor   uint64 // Request: the caller no longer waits for answers to requests with lower numbers. At most Serial
	When    int64  // Request: the time of the request's first answer
	Answers []byte // Request: the answers to all parts, from Answer.Append
	// Kept is for a Request that trimming has written again. ID is then that of the place where the Request was first,
	// otherwise that of its own place: the operations that it answers were in the places before.
	Kept bool
}

// How tells how a run of a schedule ended.
type How uint8

const (
	Returned How = iota // the handler of the run has returned nil
	Died                // the last attempt of the run failed
	Skipped             // the run did not begin
	hows
)
