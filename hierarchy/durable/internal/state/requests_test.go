package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// ask applies an answer of caller 1 in a frame of its time.
func ask(t *testing.T, s *State, number, serial, floor uint64, at time.Duration) {
	t.Helper()
	h := frame.Header{Number: number, Time: int64(at)}
	require.NoError(t, s.Apply(&h, &frame.Op{Kind: frame.Request, Caller: 1, Serial: serial, Floor: floor, When: int64(at),
		Answers: make([]byte, 300)}))
}

func has(s *State, serial uint64) bool {
	_, ok := s.Answer(Request{1, serial})
	return ok
}

// While a log is read, callers are there whom its owner had forgotten. What the owner has answered
// then is true.
func TestReadingRequestsOfForgottenCallers(t *testing.T) {
	later := Remember + time.Second
	for name, test := range map[string]struct {
		serial, floor uint64
		has           []uint64
	}{
		"below the floor": {3, 2, []uint64{3}},
		"once more":       {9, 8, []uint64{8, 9}},
		"another":         {11, 9, []uint64{9, 11}},
	} {
		t.Run(name, func(t *testing.T) {
			s := New()
			for serial := uint64(5); serial < 10; serial++ {
				ask(t, s, serial, serial, min(serial, 8), 0)
			}
			ask(t, s, 100, test.serial, test.floor, later)
			for serial := range uint64(20) {
				want := false
				for _, n := range test.has {
					want = want || n == serial
				}
				require.Equal(t, want, has(s, serial), serial)
			}
			require.True(t, s.AnswerHome(Request{1, test.serial}, 100))
			require.EqualValues(t, len(test.has)*(300+overhead), s.Bytes())
			s.Own(int64(later), int64(later))
			s.Forget(int64(2 * later))
			require.Zero(t, answers(s))
			require.Zero(t, s.Bytes())
		})
	}
}

// Trimming keeps some answers of a caller, and the owner forgets the caller before it keeps the others. Whoever reads the
// log does not take a copy of one of those for a new request.
func TestAnswersThatWereKeptBeforeTheirCallerWasForgotten(t *testing.T) {
	s := New()
	ask(t, s, 1, 5, 5, time.Second)
	forgotten := int64(time.Second + Remember)
	s.Own(forgotten, forgotten)
	require.Equal(t, Old, s.Standing(Request{1, 6}))
}

// answers returns how many are remembered.
func answers(s *State) (n int) {
	for _, c := range s.requests.callers {
		n += len(c.answers)
	}
	return n
}
