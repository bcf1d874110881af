package judge

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ms = int64(time.Millisecond)

// script makes a history by hand. Times are in ms.
type script struct {
	History
	serial int64
}

func newScript() *script {
	return &script{History: History{Partitions: 1}}
}

// call is an operation of worker 1 that was committed, from begun to ended. Its value, if any, and d in ms
// may follow.
func (s *script) call(op, key, value string, begun, ended int64, d int64) *call {
	s.serial++
	c := call{worker: 1, Record: Record{Kind: IsCall, Time: begun * ms, Serial: s.serial, Op: op, Key: key,
		Value: value, In: d * ms, Limit: 10_000 * ms, Due: (begun + d) * ms}}
	c.answer = &Record{Kind: IsAnswer, Time: ended * ms, Result: Took, OK: true}
	s.calls = append(s.calls, c)
	return &s.calls[len(s.calls)-1]
}

// fire is a firing of worker 1 in epoch 1 that returned nil. Its ID is of the frame with that number.
func (s *script) fire(key, value string, frame uint64, at, due int64) *fire {
	f := fire{worker: 1, Record: Record{Kind: IsFire, Time: at * ms, Key: key, Value: value, ID: fmt.Sprint(frame), Attempt: 1,
		Epoch: 1, Due: due * ms}}
	f.end = &Record{Kind: IsEnd, OK: true}
	s.fires = append(s.fires, f)
	return &s.fires[len(s.fires)-1]
}

// set is a timer that fires in time.
func (s *script) set(key string, at int64) {
	s.call(OpSet, FiringKeys+key, "v", at, at+5, 100)
	s.fire(FiringKeys+key, "v", uint64(10+s.serial), at+103, at+102)
}

const key = FiringKeys + "k"

// Each of these histories has one fault, and is refused for it.
func TestRefused(t *testing.T) {
	for want, scripts := range refusals {
		for i, write := range scripts {
			t.Run(fmt.Sprintf("%s/%d", want, i), func(t *testing.T) {
				s := newScript()
				write(s)
				s.Sort()
				r := s.Judge()
				require.Equal(t, []string{want}, slices.Sorted(maps.Keys(r.broken)), "%v", r.broken)
			})
		}
	}
}

// refusals are the histories that break each promise.
var refusals = map[string][]func(*script){
	Lost:      refusedLost,
	Revived:   refusedRevived,
	Early:     refusedEarly,
	misdue:    refusedMisdue,
	Stranger:  refusedStranger,
	sameID:    refusedSameID,
	Twice:     refusedTwice,
	fell:      refusedFell,
	backwards: refusedBackwards,
	manyAfter: refusedManyAfter,
	hanging:   refusedHanging,
	disorder:  refusedDisorder,
	failing:   refusedFailing,
	otherwise: refusedOtherwise,
}
