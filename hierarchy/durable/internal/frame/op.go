package frame

import "fmt"

// Kind says what an operation does.
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
	kinds
)

var kindNames = [kinds]string{
	Set: "set", SetAt: "setat", Move: "move", Remove: "remove", End: "end", Begin: "begin",
	Fail: "fail", Die: "die", Revive: "revive", Keep: "keep", Takeover: "takeover", Close: "close",
	Request: "request",
}

func (k Kind) String() string {
	if k == 0 || k >= kinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// State is the state of a timer in a Keep.
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
	State   State  // Keep
	Wall    bool   // SetAt, and a Keep of such a timer: Due is a wall time
	Attempt uint32 // Begin, Fail, Die, Keep
	ID      ID     // all that name a timer, but Remove. Move, Set and SetAt: the new ID
	Due     int64  // Set, SetAt, Move, Revive, Keep
	Next    int64  // Fail, and a Keep with attempts: when the next attempt is due
	Key     []byte // all that name a timer
	Value   []byte // Set, SetAt, Keep
	Text    []byte // Takeover

	Caller  uint64 // Request: the caller's random number
	Serial  uint64 // Request: the caller's number of the request
	Floor   uint64 // Request: the caller waits for no answer to requests of lower numbers. At most Serial
	When    int64  // Request: the time of its first answer
	Answers []byte // Request: what AppendAnswer has made of each part
}
