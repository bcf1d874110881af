package frame

import "fmt"

// Kind is what an operation does.
type Kind uint8

const (
	Set      Kind = 1 + iota // Key has Value from now on, with a new ID. Due is in the owner's time
	SetAt                    // the same, and Due is a wall time
	Move                     // Key has a new Due, in the owner's time, and a new ID
	Remove                   // Key is no longer there
	End                      // the handler of ID has returned nil: Key is no longer there
	Begin                    // an attempt of ID begins
	Fail                     // an attempt of ID failed. The next one is due at Next
	Die                      // an attempt of ID failed, and was the last
	Revive                   // the dead ID is due at Due, in the owner's time, without attempts
	Keep                     // a timer, whole, written again by trimming
	Takeover                 // the log has a new owner. Text says who, for people
	Close                    // the owner has stopped in order
	Request                  // a caller's request was answered
	Next                     // the run Ended of a schedule has ended: the next one is due at Due, a wall time, with a new ID
	Start                    // the first attempt of a run of a schedule begins. It stands for Missed others
	Expire                   // the dead ID is no longer there
	Import                   // a timer, whole, from another log. Key has it instead of what it had
	kinds

	version2 = Next // this kind and those after it are not in version 1
)

var kindNames = [kinds]string{
	Set: "set", SetAt: "setat", Move: "move", Remove: "remove", End: "end", Begin: "begin",
	Fail: "fail", Die: "die", Revive: "revive", Keep: "keep", Takeover: "takeover", Close: "close",
	Request: "request", Next: "next", Start: "start", Expire: "expire",
	Import: "import",
}

func (k Kind) String() string {
	if k == 0 || k >= kinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// renews reports whether the operation gives the timer a new ID.
func (k Kind) renews() bool { return k <= Move || k == Next }

// has reports whether frames with that header may have operations of a kind.
func (h *Header) has(k Kind) bool { return k > 0 && k < kinds && (k < version2 || h.version() >= 2) }

// isWhole reports whether the operation has all of a timer.
func (k Kind) isWhole() bool { return k == Keep || k == Import }

// State is the state of a timer in a Keep, or an Import.
type State uint8

const (
	Waiting State = iota // for Due, or for Next if Attempt is not 0
	Begun                // attempt Attempt was begun, and nothing says how it ended
	Dead                 // attempt Attempt was the last
	states
)

// Op is one operation. Which fields it has depends on Kind. The others are zero.
type Op struct {
	Kind    Kind
	State   State  // Keep, Import
	Wall    bool   // SetAt, Next, and a Keep of such a timer: Due is a wall time
	Attempt uint32 // Begin, Fail, Die, Keep
	ID      ID     // all that name a timer, but Remove. Move, Set, SetAt and Next: the new ID
	Due     int64  // Set, SetAt, Move, Revive, Keep, Next, and Start if Moved
	Next    int64  // Fail, and a Keep with attempts: when the next attempt is due
	Key     []byte // all that name a timer
	Value   []byte // Set, SetAt, Keep
	Text    []byte // Takeover
	More
	Ended uint64 // Next: the number of the ID of the run that has ended
	How   How    // Next: how that run has ended
	Moved bool   // Start: the run has another Due, and Missed

	Caller  uint64 // Request: the caller's random number
	Serial  uint64 // Request: the caller's number of the request
	Floor   uint64 // Request: the caller waits for no answer to requests of lower numbers. At most Serial
	When    int64  // Request: the time of its first answer
	Answers []byte // Request: what AppendAnswer has made of each part
}

// How is how a run of a schedule has ended.
type How uint8

const (
	Returned How = iota // its handler has returned nil
	Died                // its last attempt has failed
	Skipped             // it has not begun
	hows
)
