package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// of has what a process writes for a line that says it in short:
//
//	setting KEY, set KEY, removing KEY, removed KEY TIME, gone KEY
//	fire KEY ID ATTEMPT EPOCH DUE TIME
//	open TIME, done PENDING DEAD FRAMES BYTES LOGBYTES, failed ERROR
func of(t *testing.T, line string) (all []judge.Record) {
	f := strings.Fields(line)
	n := make([]int64, len(f))
	for i := range f {
		n[i], _ = strconv.ParseInt(f[i], 10, 64)
	}
	call := func(kind, op string, at int64, ok bool) judge.Record {
		r := judge.Record{Kind: kind, Op: op, Key: f[1], Serial: int64(len(op))<<8 + int64(f[1][0]), Time: at}
		if r.OK = ok; kind == judge.IsAnswer {
			r.Result = judge.Took
		}
		return r
	}
	switch f[0] {
	case "open":
		return []judge.Record{{Kind: judge.IsOpen, Time: n[1]}}
	case "setting":
		return []judge.Record{call(judge.IsCall, judge.OpSet, 1, false)}
	case "set":
		return []judge.Record{call(judge.IsAnswer, judge.OpSet, 1, true)}
	case "removing":
		return []judge.Record{call(judge.IsCall, judge.OpRemove, 2, false)}
	case "removed":
		return []judge.Record{call(judge.IsAnswer, judge.OpRemove, n[2], true)}
	case "gone":
		return []judge.Record{call(judge.IsAnswer, judge.OpRemove, 3, false)}
	case "fire":
		r := judge.Record{Kind: judge.IsFire, Key: f[1], ID: f[2], Attempt: int(n[3]), Epoch: uint64(n[4]), Due: n[5], Time: n[6]}
		return []judge.Record{r, {Kind: judge.IsEnd, ID: r.ID, Attempt: r.Attempt, Epoch: r.Epoch, OK: true}}
	case "done":
		return []judge.Record{{Kind: judge.IsLeft, Left: &judge.Left{Pending: int(n[1]), Dead: int(n[2]), Frames: uint64(n[3]), Bytes: uint64(n[4]), LogBytes: n[5]}}}
	case "failed":
		return []judge.Record{{Kind: judge.IsWrong, Error: strings.TrimPrefix(line, "failed ")}}
	}
	t.Fatal(line)
	return nil
}

// notes notes lines of a process.
func (a *account) notes(t *testing.T, at int, lines string) {
	for line := range strings.Lines(lines) {
		for _, r := range of(t, strings.TrimSpace(line)) {
			a.note(at, r)
		}
	}
}

// record judges processes, each with the lines that it wrote.
func record(t *testing.T, processes ...string) result {
	a := newAccount()
	for i, lines := range processes {
		a.begin()
		a.notes(t, i, lines)
	}
	return a.compare()
}

// fire is the line of a firing that is late by 1.
func fire(key, id string, attempt, epoch int) string {
	return fmt.Sprintf("fire %s %s %d %d 100 101\n", key, id, attempt, epoch)
}

const (
	setA = "setting a\nset a\n"
	done = "done 0 0 1 2 3\n"
)

func TestNothingIsWrong(t *testing.T) {
	r := record(t,
		setA+"setting b\nset b\nremoving b\nremoved b 50\nsetting c\nsetting d\nset d\nremoving d\n"+fire("a", "1", 1, 1),
		"open 200\n"+fire("a", "1", 1, 2)+fire("c", "3", 2, 2)+done)
	require.Empty(t, r.broken)
	require.Equal(t, result{set: 3, removed: 1, doubtful: 2, fired: 2, again: 1}, r)
}

// A timer is overdue that was acknowledged long ago, and has neither fired nor may have been removed.
func TestOverdue(t *testing.T) {
	for lines, want := range map[string]bool{
		"setting a":                 false,
		setA:                        true,
		setA + "removing a":         false,
		setA + "removing a\ngone a": true,
		setA + fire("a", "1", 1, 1): false,
		"setting a\n" + fire("a", "1", 1, 1) + "set a": false,
	} {
		a := newAccount()
		a.begin()
		a.notes(t, 0, lines)
		require.Equal(t, want, a.overdue(time.Now().Add(time.Hour)), lines)
		require.False(t, a.overdue(time.Now().Add(-time.Hour)), lines)
	}
}

// Each of these records has one fault.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		want      string
		processes []string
	}{
		{"one timer was set and never fired: a", []string{setA, done}},
		{"one timer fired that nobody has set: a", []string{fire("a", "1", 1, 1) + done}},
		{"the last process did not end in order", []string{setA + fire("a", "1", 1, 1)}},
		{"1 timers are pending in the end, and 0 are dead", []string{"done 1 0 1 2 3\n"}},
		{"0 timers are pending in the end, and 2 are dead", []string{"done 0 2 1 2 3\n"}},
		{"no disk", []string{"failed no disk\n" + done}},
		{"one timer fired before it was due: a", []string{setA + "fire a 1 1 1 100 99\n" + done}},
		{"2 timers were set and never fired: [\"a\" \"b\"]", []string{setA + "setting b\nset b\n" + done}},
		{"one timer fired after it was removed: a", []string{setA + "removing a\nremoved a 50\n", fire("a", "1", 1, 2) + done}},
		{"one timer came twice without saying so: a", []string{setA + fire("a", "1", 1, 1), fire("a", "2", 1, 2) + done}},
		{"one timer came twice without saying so: a", []string{setA + fire("a", "1", 2, 1), fire("a", "1", 1, 2) + done}},
		{"one timer came twice without saying so: a", []string{setA + fire("a", "1", 1, 1) + fire("a", "1", 2, 1) + done}},
		{"one timer was set and never fired: a", []string{setA + "removing a\ngone a\n" + done}},
	} {
		require.Equal(t, []string{c.want}, record(t, c.processes...).broken)
	}
}

// A timer whose third firing is another one is found, too.
func TestThirdFiring(t *testing.T) {
	r := record(t, setA+fire("a", "1", 1, 1), fire("a", "1", 1, 2), fire("a", "2", 1, 3)+done)
	require.Equal(t, []string{"one timer came twice without saying so: a"}, r.broken)
	require.Equal(t, 2, r.again)
}

// A process that was stopped goes on with what it had begun, with an epoch that others have passed.
// What it writes comes after what they wrote.
func TestStoppedProcess(t *testing.T) {
	j := newAccount()
	for range 2 {
		j.begin()
	}
	j.notes(t, 1, "setting a\nset a\nfire a 1 2 7 100 101\nsetting b\nset b\nremoving b\nremoved b 50\ndone 0 0 1 2 3")
	j.notes(t, 0, "fire a 1 1 5 100 300\nfire b 2 1 5 100 300")
	require.Equal(t, []string{"one timer fired after it was removed: b"}, j.compare().broken)
	j.stopped(1)
	j.Events[0].From = 200
	require.Equal(t, []string{"one timer fired after it was removed: b"}, j.compare().broken)
	j.stopped(0)
	require.Equal(t, []string{"one timer fired after it was removed: b"}, j.compare().broken) // long before
	j.Events[1].From = 200
	require.Empty(t, j.compare().broken)
	j.notes(t, 1, "fire a 1 3 7 100 301")
	require.Equal(t, []string{"one timer came twice without saying so: a"}, j.compare().broken)
}
