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

// wall is what a wall clock without an offset shows at the monotonic clock's 0 in these tests.
const wall = int64(1e18)

// script makes a history by hand. Times are in ms. The workers' clocks are right.
type script struct {
	History
	serial int64
}

func newScript() *script {
	h := History{Lease: 2 * time.Second, Partitions: 1, Strict: true, Zero: wall, clocks: map[int]wallClock{}}
	for worker := 1; worker <= 3; worker++ {
		h.clocks[worker] = wallClock{{}}
	}
	return &script{History: h}
}

// id is the ID of the first operation of a frame, by the owner with that name.
func id(maker string, frame uint64) string { return fmt.Sprintf("%016s%016x", maker, frame<<placeBits) }

// call is an operation of worker 1 that was committed, from begun to ended. Its value, if any, and d in ms
// may follow.
func (s *script) call(op, key, value string, begun, ended int64, d int64) *call {
	s.serial++
	c := call{worker: 1, Record: Record{Kind: IsCall, Time: begun * ms, Serial: s.serial, Op: op, Key: key,
		Value: value, In: d * ms, Limit: 10_000 * ms, Due: wall + (begun+d)*ms}}
	c.answer = &Record{Kind: IsAnswer, Time: ended * ms, Result: Took, OK: true}
	s.calls = append(s.calls, c)
	return &s.calls[len(s.calls)-1]
}

// fire is a firing of worker 1 in epoch 1 that returned nil. Its ID is of the frame with that number.
func (s *script) fire(key, value string, frame uint64, at, due int64) *fire {
	f := fire{worker: 1, Record: Record{Kind: IsFire, Time: at * ms, Key: key, Value: value, ID: id("a", frame), Attempt: 1,
		Epoch: 1, Due: wall + due*ms}}
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
		for i, write := range slices.Concat(scripts...) {
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
var refusals = map[string][][]func(*script){
	Lost:      {refusedLost},
	Revived:   {refusedRevived},
	early:     {refusedEarly, offClockEarly, wallClockEarly, refusedAhead},
	misdue:    {refusedMisdue, offClockMisdue},
	Stranger:  {refusedStranger},
	sameID:    {refusedSameID},
	Twice:     {refusedTwice},
	fell:      {refusedFell},
	backwards: {refusedBackwards},
	manyAfter: {refusedManyAfter},
	hanging:   {refusedHanging},
	disorder:  {refusedDisorder},
	slow:      {refusedSlow},
	undone:    {refusedUndone},
	failing:   {refusedFailing},
	otherwise: {refusedOtherwise},
	late:      {offClockLate, refusedLate},
	moved:     {offClockMoved},
}
