package planted

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// printed returns the output of go test for events. Each word of events is one event,
// action:test or action:test=output.
func printed(events string) string {
	var s strings.Builder
	for e := range strings.FieldsSeq(events) {
		e, output, _ := strings.Cut(e, "=")
		action, test, _ := strings.Cut(e, ":")
		fmt.Fprintf(&s, "{\"Action\":%q,\"Test\":%q,\"Output\":%q}\n", action, test, strings.ReplaceAll(output, "_", " "))
	}
	return s.String()
}

func TestJudge(t *testing.T) {
	for events, by := range map[string]string{
		"run:A run:A/s fail:A/s fail:A fail:":                                  "by A",
		"run:A pass:A run:B fail:B run:C fail:C fail:":                         "by B, C",
		"run:A fail:A run:B fail:B run:C fail:C fail:":                         "by A and 2 more",
		"run:A output:A=panic:_oh fail:A fail:":                                "by A (panic)",
		"run:A skip:A run:B output:B=panic:_oh output:B=panic:_test_timed_out": "by B (timeout)",
		"run:A output:=fatal_error:_concurrent_map_writes fail:":               "by A (crash)",
		"run:A output:=fatal_error:_all_goroutines_are_asleep fail:":           "by A (deadlock)",
		"run:A output:A=WARNING:_DATA_RACE fail:A fail:":                       "by A (data race)",
		"run:A pass:A output:=goleak:_Errors_on_successful_test_run fail:":     "by a check after all tests (goroutine left behind)",
	} {
		v, err := judge(printed(events), true)
		require.NoError(t, err, events)
		require.True(t, v.failed)
		require.Equal(t, by, v.by(), events)
	}
	v, err := judge(printed("start: run:A run:A/s pass:A/s pass:A run:B skip:B pass:"), false)
	require.NoError(t, err)
	require.Equal(t, verdict{ran: 2}, v)
}

// A run that fails without a failing test has not found the bug.
func TestJudgeOfNoTest(t *testing.T) {
	for text, problem := range map[string]string{
		printed("build-output:=undefined:_x build-fail: fail:"): "it doesn't compile:\nundefined: x",
		printed("build-output:=undefined:_x build-fail: run:A"): "it doesn't compile",
		"no required module provides package x\n":               "but none of its tests:\nno required module",
		printed("run:A pass:A fail:"):                           "but none of its tests",
	} {
		_, err := judge(text, true)
		require.ErrorContains(t, err, problem)
	}
}
