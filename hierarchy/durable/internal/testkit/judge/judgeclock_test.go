package judge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// off has a worker's clock be ahead by that many ms from the beginning.
func (s *script) off(worker int, offset int64) { s.clocks[worker] = wallClock{{offset: offset * ms}} }

// jump sets a worker's clock, between two times.
func (s *script) jump(worker int, offset, from, to int64) {
	s.clocks[worker] = append(s.clocks[worker], setting{offset * ms, from * ms, to * ms})
}

// next has the last firing be of worker 2 in epoch 20.
func (s *script) next() *fire {
	f := &s.fires[len(s.fires)-1]
	f.worker, f.Epoch = 2, 20
	return f
}

var offClockEarly = []func(*script){
	func(s *script) { // by a clock that is ahead, too
		s.off(1, 2000)
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 100, 2101)
	},
	func(s *script) { // the clock was set after the takeover
		s.set("a", 0)
		s.jump(1, 10_000, 110, 111)
		s.call(OpSet, key, "v", 120, 125, 100)
		s.fire(key, "v", 20, 150, 221)
	},
	func(s *script) { // the next owner's clock shows less
		s.off(1, 2000)
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 2100, 2101)
		s.next()
	},
}

var wallClockEarly = []func(*script){
	func(s *script) { // the right time, but the owner's clock is behind
		s.off(1, -1000)
		s.call(OpSetAt, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 101, 100)
	},
	func(s *script) { // the clock showed its time long before
		s.jump(1, 10_000, 50, 51)
		s.jump(1, 0, 60, 61)
		s.call(OpSetAt, key, "v", 0, 5, 5000)
		s.fire(key, "v", 10, 1100, 5000)
	},
	func(s *script) { // before it was set
		s.jump(1, 10_000, 50, 51)
		s.jump(1, 0, 60, 61)
		s.call(OpSetAt, key, "v", 62, 65, 1000)
		s.fire(key, "v", 10, 70, 1062)
	},
	func(s *script) { // before it was moved
		s.jump(1, 10_000, 50, 51)
		s.jump(1, 0, 60, 61)
		s.call(OpSet, key, "v", 40, 45, 5000)
		s.call(OpMoveAt, key, "", 62, 65, 1000)
		s.fire(key, "v", 10, 70, 1062)
	},
	func(s *script) { // before this owner's time
		s.set("a", 100)
		s.jump(2, 10_000, 50, 51)
		s.jump(2, 0, 60, 61)
		s.call(OpSetAt, key, "v", 0, 5, 1000)
		s.fire(key, "v", 12, 210, 1000)
		s.next()
	},
	func(s *script) { // the next attempt
		s.set("k", 0)
		s.fires[0].end.OK, s.fires[0].end.Time = false, 110*ms
		s.fire(key, "v", 11, 159, 102).Attempt = 2
	},
}

var offClockMisdue = []func(*script){
	func(s *script) { // by what the clock shows later
		s.set("a", 0)
		s.jump(1, 10_000, 110, 111)
		s.call(OpSet, key, "v", 120, 125, 100)
		s.fire(key, "v", 20, 10_225, 10_221)
	},
	func(s *script) { // by what the next owner's clock showed before its takeover
		s.set("a", 100)
		s.jump(2, 10_000, 50, 51)
		s.call(OpSet, key, "v", 300, 305, 100)
		s.fire(key, "v", 30, 405, 401)
		s.next()
	},
	func(s *script) { // two timers by two offsets
		s.jump(1, 10_000, 110, 111)
		s.call(OpSet, key, "v", 120, 125, 100)
		s.fire(key, "v", 20, 225, 221)
		s.call(OpSet, key+"2", "v", 120, 125, 100)
		s.fire(key+"2", "v", 21, 225, 10_221)
	},
	func(s *script) { // nobody has such a clock
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 400, 201)
		s.next()
	},
	func(s *script) {
		s.call(OpSetAt, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 200, 101)
	},
}

var offClockLate = []func(*script){
	func(s *script) {
		s.owns(1, 0, 1, 0)
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 3200, 101)
	},
	func(s *script) { // only the next owner has fired it
		s.owns(1, 0, 1, 0)
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 6000, 101)
		s.next()
		s.set("a", 4900)
	},
	func(s *script) { // it has followed the clock
		s.set("a", 0)
		s.jump(1, -10_000, 110, 111)
		s.call(OpSet, key, "v", 120, 125, 100)
		s.fire(key, "v", 20, 10_221, 221)
	},
	func(s *script) {
		s.owns(1, 0, 1, 0)
		s.jump(1, 3600_000, 110, 111)
		s.call(OpSetAt, key, "v", 0, 5, 60_000)
		s.fire(key, "v", 10, 13_200, 60_000)
	},
}

var offClockMoved = []func(*script){
	func(s *script) {
		s.Events = []Event{{Fault: SetClock, Worker: 1, From: 50 * ms, To: 1000 * ms}}
		s.set("a", 100)
		s.set("b", 300)
		s.next()
	},
}

// What was due before the clock was set back is counted, if it had to wait.
func TestSetBack(t *testing.T) {
	s := newScript()
	s.jump(1, 10_000, 50, 51)
	s.jump(1, 0, 60, 61)
	s.call(OpSetAt, key, "v", 0, 5, 5000)
	s.fire(key, "v", 10, 1100, 5000)
	s.Events = []Event{{Fault: SetClock, Worker: 1, From: 50 * ms, To: 60 * ms}}
	require.Len(t, s.Judge().broken[early], 1)
	s.Events = append(s.Events, Event{Fault: KillServer, Server: 1, From: 55 * ms, To: 56 * ms})
	r := s.Judge()
	require.Empty(t, r.broken)
	require.Equal(t, 1, r.setBack)
}

// When clocks were set, what partitions were away is measured by their owners' clocks.
func TestReturnsByOwnersClock(t *testing.T) {
	s := newScript()
	s.off(2, 10_000)
	s.Events = []Event{{Fault: KillWorker, Worker: 1, From: 200 * ms, To: 300 * ms}}
	s.set("a", 0)
	s.call(OpSet, key, "v", 150, 155, 10_100)
	s.fire(key, "v", 12, 1251, 10_251)
	s.next()
	r := s.Judge()
	require.Equal(t, int64(1000), int64(r.backs[0].delays[0])/ms)
	require.Equal(t, 1, r.byJump)
}

// A timer that was overdue when it was set does not make its partition late.
func TestReturnsOfOverdueTimers(t *testing.T) {
	s := newScript()
	s.Events = []Event{{Fault: KillWorker, Worker: 1, From: 200 * ms, To: 300 * ms}}
	s.set("a", 0)
	s.call(OpSetAt, key, "v", 1240, 1242, -1000)
	s.fire(key, "v", 12, 1245, 240)
	r := s.Judge()
	require.Empty(t, r.broken)
	require.Equal(t, int64(5), int64(r.backs[0].delays[0])/ms)
}

// A firing is not of an operation that was called for after it, though the clock may have been such that
// the times fit.
func TestFiringBeforeAMove(t *testing.T) {
	const second = int64(time.Second)
	answered := &Record{Time: 1, Result: Took, OK: true}
	set := &version{by: &call{Record: Record{Time: 0, Op: OpSet, In: 2 * second}, answer: answered}, value: "v"}
	move := &version{by: &call{Record: Record{Time: 3 * second, Op: OpMove, In: 3 * second}}, value: "v"}
	f := &fire{Record: Record{Time: 2*second + 1, Value: "v", Due: 2*second + 1}}
	l := &life{versions: []*version{set, move}}
	require.True(t, l.assign(f, 0, []int64{-180 * second, 0}))
	require.Same(t, set, f.of)
	require.True(t, f.fits)

	f = &fire{Record: Record{Time: second, Value: "v", Due: 2 * second}}
	require.False(t, (&life{versions: []*version{move}}).assign(f, 0, []int64{0}))
}

// An owner's clock may be off by MaxSkew at its takeover, and its time ahead of that clock by as much.
func TestClocksOfOwners(t *testing.T) {
	for _, c := range []struct {
		off, ahead int64
		broken     int
	}{{5000, 0, 0}, {-5000, 0, 0}, {5001, 0, 1}, {-5001, 0, 1}, {-4000, 5000, 0}, {-4000, 5001, 1}, {0, -1, 1}, {1000, 4500, 1}} {
		s := newScript()
		s.heard = true
		s.off(1, c.off)
		s.owns(1, 0, 1, 0).ahead = c.ahead * ms
		s.set("a", 0)
		for i := range s.fires {
			s.fires[i].Due += (c.off + c.ahead) * ms
		}
		require.Len(t, s.Judge().broken[offClock], c.broken, "%+v", c)
	}
}
