//go:build linux

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// accepted are histories that are as promised.
var accepted = map[string]func(*script){
	"all well": func(s *script) { s.set("a", 0); s.set("b", 10) },
	"removed": func(s *script) {
		s.call(opSet, key, "v", 0, 5, 100)
		s.call(opRemove, key, "", 10, 15, 0)
	},
	"removed, and never known": func(s *script) {
		s.call(opSet, key, "v", 0, 5, 100)
		s.call(opRemove, key, "", 10, 15, 0).answer = nil
	},
	"removed while it fires": func(s *script) {
		s.call(opSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 101, 101)
		s.call(opRemove, key, "", 99, 102, 0)
	},
	"in doubt, and fires": func(s *script) {
		s.call(opSet, key, "v", 0, 5, 100).answer.Result = unknown
		s.fire(key, "v", 10, 5000, 4000)
	},
	"moved": func(s *script) {
		s.call(opSet, key, "v", 0, 5, 100)
		s.call(opMove, key, "", 99, 103, 1000)
		s.fire(key, "v", 10, 101, 101)
		s.fire(key, "v", 11, 1102, 1101)
	},
	"again with the next owner": func(s *script) {
		s.set("k", 0)
		s.fire(key, "v", 11, 150, 102).Epoch = 2
	},
	"a hanging call of a worker that was stopped": func(s *script) {
		s.Events = []event{{Fault: stopWorker, Worker: 1, From: 100 * ms, To: 5000 * ms}}
		s.call(opGet, key, "", 0, 14_000, 0)
	},
	"another order is possible": func(s *script) {
		s.call(opSet, sharedKeys, "v", 0, 20, 100)
		s.call(opGet, sharedKeys, "", 10, 15, 0).answer.OK = false
		s.call(opRemove, sharedKeys, "", 30, 35, 0).answer.Value = "v"
	},
}

func TestAccepted(t *testing.T) {
	for _, all := range []map[string]func(*script){accepted, ownersClocksAccepted, setClocksAccepted, wallClocksAccepted, lateAccepted} {
		for name, write := range all {
			t.Run(name, func(t *testing.T) {
				s := newScript()
				write(s)
				s.sort()
				require.Empty(t, s.judge().broken)
			})
		}
	}
}

// A worker that was stopped between its look at the lease and the handler is counted.
func TestExcuses(t *testing.T) {
	s := newScript()
	s.Events = []event{{Fault: stopWorker, Worker: 1, From: 100 * ms, To: 2000 * ms}}
	s.call(opSet, key, "v", 0, 5, 100)
	s.call(opRemove, key, "", 10, 15, 0)
	s.fire(key, "v", 10, 2001, 101)
	r := s.judge()
	require.Empty(t, r.broken)
	over, paused := r.excuses()
	require.Equal(t, []int{0, 1}, []int{over, paused})

	s.Events = nil
	s.fires[0].Over = true
	over, paused = s.judge().excuses()
	require.Equal(t, []int{1, 0}, []int{over, paused})
}

// A fault near another one says nothing about how long one of them takes.
func TestTogether(t *testing.T) {
	s := newScript()
	s.Events = []event{{Fault: killWorker, Worker: 1, From: 200 * ms, To: 300 * ms}, {Fault: stopServer, Server: 1, From: 1000 * ms, To: 1100 * ms}}
	s.set("a", 0)
	s.set("b", 150)
	s.fires[1].Time = 4500 * ms
	require.Empty(t, s.judge().broken)
	s.Events = s.Events[:1]
	r := s.judge()
	require.Len(t, r.broken[slow], 1)
	require.Equal(t, time.Duration(4500-252)*time.Millisecond, r.backs[0].delays[0])
}
