package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// verdict is what came of a run of go test.
type verdict struct {
	failed bool
	ran    int      // tests that began, subtests not counted
	tests  []string // those that failed, or had not ended at the end
	how    string   // if not by a plain failure
}

// event is what `go test -json` prints a line for.
type event struct{ Action, Test, Output string }

// judge reads what go test has printed. It is an error if the code doesn't compile,
// or if it failed for another reason than its tests.
func judge(printed string, failed bool) (verdict, error) {
	v := verdict{failed: failed}
	state := map[string]string{}
	var order []string
	var other strings.Builder
	for line := range strings.Lines(printed) {
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			e = event{Output: line} // of the go command itself
		}
		if e.Action == "build-fail" {
			return v, fmt.Errorf("it doesn't compile:\n%s", other.String())
		}
		if e.Test == "" {
			other.WriteString(e.Output)
		} else if !strings.Contains(e.Test, "/") {
			if e.Action == "run" {
				order = append(order, e.Test)
			}
			if e.Action != "output" {
				state[e.Test] = e.Action
			}
		}
		v.how = worse(v.how, e.Output)
	}
	v.ran = len(order)
	for _, test := range order {
		if s := state[test]; s != "pass" && s != "skip" {
			v.tests = append(v.tests, test)
		}
	}
	if failed && len(v.tests) == 0 && v.how == "" {
		return v, fmt.Errorf("go test fails, but none of its tests:\n%s", other.String())
	}
	return v, nil
}

// ways of failing, with what begins the line that tells of it; the worst first.
var ways = []struct{ begins, how string }{
	{"panic: test timed out", "timeout"},
	{"fatal error: all goroutines are asleep", "deadlock"},
	{"fatal error: ", "crash"},
	{"SIG", "crash"},
	{"panic: ", "panic"},
	{"WARNING: DATA RACE", "data race"},
	{"goleak: Errors", "goroutine left behind"},
}

// worse is how a run has failed, if until line it was as told.
func worse(told, line string) string {
	for _, way := range ways {
		if way.how == told || strings.HasPrefix(line, way.begins) {
			return way.how
		}
	}
	return told
}

// by says which tests noticed, and how.
func (v verdict) by() string {
	s := "by a check after all tests"
	switch n := len(v.tests); {
	case n > 2:
		s = fmt.Sprintf("by %s and %d more", v.tests[0], n-1)
	case n > 0:
		s = "by " + strings.Join(v.tests, ", ")
	}
	if v.how != "" {
		s += " (" + v.how + ")"
	}
	return s
}
