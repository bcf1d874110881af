package judge

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var refusedLate = []func(*script){
	func(s *script) { // the clock of its owner is behind by hours, so it has waited
		s.off(2, -7200_000)
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 7200_103, 102)
		s.next()
	},
	func(s *script) { // the clock of the last owner is right, but that of the one before was ahead
		s.owns(2, 0, 5, 0)
		s.off(2, 60_000)
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 60_103, 60_102).Epoch = 20
	},
	func(s *script) { // a fault explains some seconds
		s.Events = []Event{{Fault: StopServer, Server: 1, From: 50 * ms, To: 1000 * ms}}
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 12_500, 101)
	},
	func(s *script) { // nothing explains an hour
		s.Events = []Event{{Fault: StopServer, Server: 1, From: 50 * ms, To: 7200_000 * ms}}
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 3600_500, 101)
	},
	func(s *script) { // where nothing happens, a second is too late
		s.Alone = true
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 1200, 101)
	},
	func(s *script) { // by little, but many
		for i := range 300 {
			k := fmt.Sprint(key, i)
			s.call(OpSet, k, "v", 0, 5, 100)
			s.fire(k, "v", uint64(10+i), 101+int64(i%50*30), 101)
		}
	},
}

// It would fire what is due in an hour.
var refusedAhead = []func(*script){
	func(s *script) { // nobody but an owner that is hours ahead
		s.call(OpSet, FarKeys, "v", 0, 5, 3600_000)
		s.off(2, 3600_000)
		s.fire(FarKeys, "v", 10, 3000, 3600_000)
		s.next()
	},
	func(s *script) {
		s.off(2, 3600_000)
		s.call(OpSet, key, "v", 0, 5, 600_000)
		s.fire(key, "v", 10, 3000, 600_003)
		s.next()
	},
}

var refusedUndone = []func(*script){
	func(s *script) {
		s.call(OpSet, SharedKeys, "v", 0, 5, 100).answer.Result = Unknown
		s.call(OpSet, SharedKeys, "w", 6, 7, 100)
		s.call(OpGet, SharedKeys, "", 10, 15, 0).answer.Value = "v"
	},
	func(s *script) {
		s.call(OpSetAt, SharedKeys, "v", 0, 5, 100).answer.Result = Unknown
		s.call(OpRemove, SharedKeys, "", 6, 7, 0).answer.OK = false
		s.call(OpRemove, SharedKeys, "", 10, 15, 0).answer.Value = "v"
	},
}

var lateAccepted = map[string]func(*script){
	"late by what faults explain": func(s *script) {
		s.Events = []Event{{Fault: KillServer, Server: 1, From: 50 * ms, To: 1000 * ms}, {Fault: BusyMachine, From: 9000 * ms, To: 12_000 * ms}}
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 15_000, 101)
	},
	"given up, and seen before the next one was answered": func(s *script) {
		s.call(OpSet, SharedKeys, "v", 0, 5, 100).answer.Result = Unknown
		s.call(OpGet, SharedKeys, "", 6, 7, 0).answer.Value = "v"
		s.call(OpSet, SharedKeys, "w", 8, 9, 100)
		s.call(OpGet, SharedKeys, "", 10, 15, 0).answer.Value = "w"
	},
	"given up, and seen after an operation of another worker": func(s *script) {
		s.call(OpSet, SharedKeys, "v", 0, 5, 100).answer.Result = Unknown
		s.call(OpSet, SharedKeys, "w", 6, 7, 100).worker = 2
		s.call(OpGet, SharedKeys, "", 10, 15, 0).answer.Value = "v"
	},
}

// No time counts twice, and what is over before, or begins after, explains nothing.
func TestExcuse(t *testing.T) {
	s := newScript()
	s.Lease = time.Second
	s.owns(1, 0, 1, 0)
	s.owns(2, 0, 5, 600*ms)
	s.owns(3, 1, 1, 0)
	s.Events = []Event{
		{Fault: KillWorker, Worker: 1, From: 0, To: 1000 * ms},
		{Fault: StopWorker, Worker: 2, From: 500 * ms, To: 1500 * ms},
		{Fault: StopWorker, Worker: 3, From: 600 * ms, To: 9000 * ms}, // of another partition
		{Fault: KillWorker, Worker: 1, From: 700 * ms, To: 9000 * ms}, // after its time
		{Fault: SetClock, Worker: 2, From: 2000 * ms, To: 9000 * ms},
		{Fault: BusyMachine, From: 10_000 * ms, To: 11_000 * ms},
		{Fault: "servers cut off in one direction", Server: 1, From: 20_000 * ms, To: 21_000 * ms},
	}
	for _, c := range []struct {
		from, to, want int64
		why            string
	}{
		{0, 3500, 3500, " by: " + KillWorker + ", " + StopWorker},
		{3500, 10_000, 0, ""},
		{3000, 12_000, 500 + 1500, " by: " + StopWorker + ", " + BusyMachine},
		{15_000, 40_000, 9000, " by: " + "servers cut off in one direction"},
	} {
		sum, why := s.excuse(0, c.from*ms, c.to*ms)
		require.Equal(t, c.want, int64(sum)/ms, "%+v", c)
		require.Equal(t, c.why, why)
	}
}

// What waited for nothing is in the report.
func TestQuiet(t *testing.T) {
	s := newScript()
	s.Modes, s.Copies = "far,copies", 7
	s.set("a", 0)
	s.set("b", 100)
	r := s.Judge()
	require.Empty(t, r.broken)
	require.Len(t, r.quiet, 2)
	require.Equal(t, map[string]int{"far": 1, "copies": 1}, r.modes)
}
