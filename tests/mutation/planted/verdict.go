package planted

import (
	"encoding/json"
	"fmt"
	"strings"
)

// verdict is the result of a run of go test.
type verdict struct {
	failed bool
	ran    int      // tests that began, without subtests
	tests  []string // tests that failed or did not finish
	how    string   // the way in which the run failed, if it was not a plain failure
}

// event is one line of `go test -json`.
type event struct{ Action, Test, Output string }

// judge reads the output of go test. It returns an error if the code doesn't compile, or if go test failed for a reason
// other than failed tests.
func judge(printed string, failed bool) (verdict, error) {
	v := verdict{failed: failed}
	state := map[string]string{}
	var order []string
	var other strings.Builder
	for line := range strings.Lines(printed) {
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			e = event{Output: line} // a line of the go command itself
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
		return v, fmt.Errorf("go test failed, but none of its tests:\n%s", other.String())
	}
	return v, nil
}

// ways are the ways to fail, worst first, each with the beginning of the line that
// shows it.
var ways = []struct{ begins, how string }{
	{"panic: test timed out", "timeout"},
	{"fatal error: all goroutines are asleep", "deadlock"},
	{"fatal error: ", "crash"},
	{"SIG", "crash"},
	{"panic: ", "panic"},
	{"WARNING: DATA RACE", "data race"},
	{"goleak: Errors", "goroutine left behind"},
}

// worse returns the worse of two ways to fail: how, which earlier lines have shown, and the way that line shows.
func worse(how, line string) string {
	for _, way := range ways {
		if way.how == how || strings.HasPrefix(line, way.begins) {
			return way.how
		}
	}
	return how
}

// by names the tests that failed, and how they failed.
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
