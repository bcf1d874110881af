package judge

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// accepted are histories that are as promised.
var accepted = map[string]func(*script){
	"all well": func(s *script) { s.set("a", 0); s.set("b", 10) },
	"removed": func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100)
		s.call(OpRemove, key, "", 10, 15, 0)
	},
	"removed, and never known": func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100)
		s.call(OpRemove, key, "", 10, 15, 0).answer = nil
	},
	"removed while it fires": func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 101, 101)
		s.call(OpRemove, key, "", 99, 102, 0)
	},
	"in doubt, and fires": func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100).answer.Result = Unknown
		s.fire(key, "v", 10, 5000, 4000)
	},
	"moved": func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100)
		s.call(OpMove, key, "", 99, 103, 1000)
		s.fire(key, "v", 10, 101, 101)
		s.fire(key, "v", 11, 1102, 1101)
	},
	"moved to a time": func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100)
		s.call(OpMoveAt, key, "", 10, 15, 1000)
		s.fire(key, "v", 10, 1010, 1010)
	},
	"moved later, with an unknown result": func(s *script) {
		s.call(OpSetAt, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 101, 100)
		s.call(OpMove, key, "", 110, 115, 5000).answer = nil
	},
	"a change of owners": func(s *script) {
		s.set("a", 100)
		s.set("b", 300)
		s.fires[1].worker, s.fires[1].Epoch = 2, 20
	},
	"again with the next owner": func(s *script) {
		s.set("k", 0)
		s.fire(key, "v", 11, 150, 102).Epoch = 2
	},
	"a hanging call of a worker that was stopped": func(s *script) {
		s.Events = []Event{{Fault: StopWorker, Worker: 1, From: 100 * ms, To: 5000 * ms}}
		s.call(OpGet, key, "", 0, 14_000, 0)
	},
	"another order is possible": func(s *script) {
		s.call(OpSet, SharedKeys, "v", 0, 20, 100)
		s.call(OpGet, SharedKeys, "", 10, 15, 0).answer.OK = false
		s.call(OpRemove, SharedKeys, "", 30, 35, 0).answer.Value = "v"
	},
}

func TestAccepted(t *testing.T) {
	for name, write := range accepted {
		t.Run(name, func(t *testing.T) {
			s := newScript()
			write(s)
			s.Sort()
			require.Empty(t, s.Judge().broken)
		})
	}
}

// A worker that was stopped between its look at the lease and the handler is counted.
func TestExcuses(t *testing.T) {
	s := newScript()
	s.Events = []Event{{Fault: StopWorker, Worker: 1, From: 100 * ms, To: 2000 * ms}}
	s.call(OpSet, key, "v", 0, 5, 100)
	s.call(OpRemove, key, "", 10, 15, 0)
	s.fire(key, "v", 10, 2001, 101)
	r := s.Judge()
	require.Empty(t, r.broken)
	over, paused := r.excuses()
	require.Equal(t, []int{0, 1}, []int{over, paused})

	s.Events = nil
	s.fires[0].Over = true
	over, paused = s.Judge().excuses()
	require.Equal(t, []int{1, 0}, []int{over, paused})
}
