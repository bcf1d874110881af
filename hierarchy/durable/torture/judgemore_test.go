//go:build linux

package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var orderRefusals = map[string][]func(*script){
	fell: {
		func(s *script) { // after it was handled, by the same owner
			s.set("k", 0)
			s.fire(key, "v", 11, 150, 102).Attempt = 2
		},
		func(s *script) { // the same attempt, by the same owner
			s.set("k", 0)
			s.fires[0].end.OK = false
			s.fire(key, "v", 11, 150, 102)
		},
		func(s *script) { // by the next owner
			s.set("k", 0)
			s.fires[0].Attempt = 2
			s.fire(key, "v", 11, 150, 102).Epoch = 2
		},
	},
	backwards: {
		func(s *script) {
			s.set("a", 0)
			s.set("b", 500)
			s.fires[0].Epoch, s.fires[0].worker = 2, 2
		},
		func(s *script) { // the third one
			s.set("a", 0)
			s.set("b", 500)
			s.set("c", 600)
			s.fires[0].Epoch = 3
			s.fires[1].Epoch = 3
			s.fires[2].Epoch = 2
		},
	},
}

var otherRefusals = map[string][]func(*script){
	manyAfter: {func(s *script) {
		s.Events = []event{{Fault: stopWorker, Worker: 1, From: 100 * ms, To: 2000 * ms}}
		for i := range mostAfterStop + 1 {
			k := fmt.Sprint(key, i)
			s.call(opSet, k, "v", 0, 5, 100)
			s.call(opRemove, k, "", 10, 15, 0)
			s.fire(k, "v", uint64(10+i), 2001, 101)
		}
	}},
	hanging: {func(s *script) {
		s.call(opGet, key, "", 0, 14_000, 0)
	}},
	disorder: {
		func(s *script) { // what was acknowledged is gone
			s.call(opSet, sharedKeys, "v", 0, 5, 100)
			s.call(opGet, sharedKeys, "", 10, 15, 0).answer.OK = false
		},
		func(s *script) { // an old answer
			s.call(opSet, sharedKeys, "v", 0, 5, 100)
			s.call(opSet, sharedKeys, "w", 6, 7, 100)
			s.call(opGet, sharedKeys, "", 10, 15, 0).answer.Value = "v"
		},
		func(s *script) { // what did not take hold
			s.call(opSet, sharedKeys, "v", 0, 5, 100).answer.Result = refused
			s.call(opGet, sharedKeys, "", 10, 15, 0).answer.Value = "v"
		},
	},
	slow: {
		func(s *script) {
			s.Events = []event{{Fault: killWorker, Worker: 1, From: 200 * ms, To: 300 * ms}}
			s.set("a", 0)
			s.set("b", 150)
			s.fires[1].Time = 4500 * ms
		},
		func(s *script) {
			s.Events = []event{{Fault: killServer, Server: 1, From: 200 * ms, To: 300 * ms}}
			s.set("b", 150)
			s.fires[0].Time = 10_500 * ms
		},
	},
	failing:   {func(s *script) { s.call(opSet, key, "v", 0, 5, 100).answer.Result = failed }},
	otherwise: {func(s *script) { s.Problems = []string{"worker 1 ended by itself"} }},
}

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
	for _, all := range []map[string]func(*script){accepted, clocksAccepted} {
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
