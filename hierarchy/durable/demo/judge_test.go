package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// record judges processes, each with the lines that it wrote.
func record(t *testing.T, processes ...string) result {
	j := newJudge()
	for _, lines := range processes {
		j.begin()
		for line := range strings.Lines(lines) {
			if line = strings.TrimSpace(line); line != "" {
				e, err := parseLine(line)
				require.NoError(t, err)
				j.note(e)
			}
		}
	}
	return j.compare()
}

// fire is the line of a firing that is late by 1.
func fire(key, id string, attempt, epoch int) string {
	return fmt.Sprintf(lineFire+"\n", key, id, attempt, epoch, 100, 101)
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
	j := newJudge()
	j.begin()
	j.note(event{kind: "setting", key: "a"})
	require.False(t, j.overdue(time.Now().Add(time.Hour)))
	j.note(event{kind: "set", key: "a"})
	require.True(t, j.overdue(time.Now().Add(time.Hour)))
	require.False(t, j.overdue(time.Now().Add(-time.Hour)))
	fired := *j.timers["a"]
	j.note(event{kind: "removing", key: "a"})
	require.False(t, j.overdue(time.Now().Add(time.Hour)))
	fired.firings = []firing{{}}
	j.timers["a"] = &fired
	require.False(t, j.overdue(time.Now().Add(time.Hour)))
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
		{"no disk", []string{`failed "no disk"` + "\n" + done}},
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

func TestLines(t *testing.T) {
	e, err := parseLine(fmt.Sprintf(lineFire, "1/2", "0a", 3, 6, 4, 5))
	require.NoError(t, err)
	require.Equal(t, event{kind: "fire", key: "1/2", firing: firing{id: "0a", attempt: 3, epoch: 6, due: 4, at: 5}}, e)
	e, err = parseLine(fmt.Sprintf(lineDone, 1, 2, 3, 4, 5))
	require.NoError(t, err)
	require.Equal(t, counters{1, 2, 3, 4, 5}, e.counters)
	e, err = parseLine(fmt.Sprintf(lineFailed, "no \"disk\""))
	require.NoError(t, err)
	require.Equal(t, "no \"disk\"", e.problem)
	for _, line := range []string{"", "hello", "open", "open x", "set", "fire a 1 x 1 1 1", "removed a", "done 1"} {
		_, err := parseLine(line)
		require.ErrorContains(t, err, fmt.Sprintf("%q", line))
	}
}

// A process that was stopped goes on with what it had begun, with an epoch that others have passed.
// What it writes comes after what they wrote.
func TestStoppedProcess(t *testing.T) {
	j := newJudge()
	for range 2 {
		j.begin()
	}
	note := func(life int, line string) {
		e, err := parseLine(line)
		require.NoError(t, err)
		j.noteOf(life, e)
	}
	for _, line := range []string{"setting a", "set a", "fire a 1 2 7 100 101", "setting b", "set b", "removing b", "removed b 50", "done 0 0 1 2 3"} {
		note(1, line)
	}
	note(0, "fire a 1 1 5 100 300")
	note(0, "fire b 2 1 5 100 300")
	require.Equal(t, []string{"one timer fired after it was removed: b"}, j.compare().broken)
	j.lives[0].stopped = true
	require.Empty(t, j.compare().broken)
	note(1, "fire a 1 3 7 100 301")
	require.Equal(t, []string{"one timer came twice without saying so: a"}, j.compare().broken)
}
