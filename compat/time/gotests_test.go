package time_test

import (
	"testing"

	"github.com/epicycle-go/epicycle/compat/internal/gotests"
	"github.com/epicycle-go/epicycle/tests/long"
)

// Go's own tests of timers and tickers pass. Those of calendar and formatting test nothing
// that is here. TestZeroTimer takes its three million timers, so this takes some seconds.
func TestGoTests(t *testing.T) {
	long.Only(t)
	gotests.Suite{
		Package: "time",
		Files:   []string{"sleep_test.go", "tick_test.go"},
		Imports: map[string]string{
			"time":             "github.com/epicycle-go/epicycle/compat/time",
			"internal/testenv": "gotests/testenv",
		},
		Extra: map[string]string{
			"testenv/testenv.go": testenv,
			"export_test.go":     exports,
			"unix_test.go":       interruptUnix,
			"other_test.go":      interruptOther,
		},
		LeftOut: map[string]string{
			"TestOverflowPeriodRuntimeTimer": "looks inside the runtime's timers",
		},
		Hasty: map[string]string{
			"TestTicker":               "ticks may take a third longer than they should",
			"TestAfterTick":            "ticks may take thrice as long as they should",
			"TestAfterQueuing":         "timers may be up to 2 s late",
			"TestAfterStop":            "a timer must be stopped within 50 ms",
			"TestTimerStopStress":      "a timer must be stopped within 1 s",
			"TestOverflowSleep":        "a timer that is due must fire within 1 s",
			"TestZeroTimer":            "the same within 2 s",
			"TestAdjustTimers":         "the same within 0.75 s",
			"TestTimerModifiedEarlier": "the same within 8 s",
			"TestLongAdjustTimers":     "must do its work within 60 s",
		},
		Flags: []string{"-timeout=5m"},
	}.Run(t)
}

// testenv is what the tests use of package internal/testenv.
const testenv = `package testenv

import "testing"

func SkipFlaky(t testing.TB, issue int) { t.Helper(); t.Skip("flaky") }
`

// exports is what the tests use of package time's own export_test.go.
const exports = `package time_test

type setting string

func (s setting) Value() string { return string(s) }

// AsynctimerChan is the value of GODEBUG=asynctimerchan, which no test sets.
var AsynctimerChan = setting("0")
`

// interruptUnix and interruptOther are Interrupt, which package time has for its tests.
const (
	interruptUnix = `//go:build unix

package time_test

import (
	"os"
	"syscall"
)

func Interrupt() { syscall.Kill(os.Getpid(), syscall.SIGCHLD) }
`
	interruptOther = `//go:build !unix

package time_test

func Interrupt() {}
`
)
