package durable_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/tests/snippets"
)

// The snippets of these pages are in the tests of this module, so they are compiled and run.
func TestSnippetsAreCode(t *testing.T) {
	code, err := snippets.Read("*_test.go", "*/*_test.go")
	require.NoError(t, err)
	for _, page := range []string{"README.md", "DESIGN.md", "FORMAT.md", "WIRE.md", "../../docs/durable-calls.md", "../../docs/durable-operations.md", "../../docs/durable-cluster.md"} {
		text, err := snippets.Read(page)
		require.NoError(t, err)
		require.NotEmpty(t, text, page)
		require.Empty(t, snippets.Missing(text, code), "%s: no test has this snippet", page)
	}
}

type Order struct {
	Number   string
	Customer int
}

// The program of README.md, without waiting for half an hour.
func TestReadme(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	var cancelled []Order
	cancelIfUnpaid := func(_ context.Context, o Order) error {
		cancelled = append(cancelled, o)
		return nil
	}
	program := func(order, paid Order) error {
		timers, err := durable.Open(ctx, durable.Config[string, Order]{
			Dir: dir,
			Handle: func(ctx context.Context, f durable.Firing[string, Order]) error {
				return cancelIfUnpaid(ctx, f.Value) // an error: it is tried again later
			},
		})
		if err != nil {
			return err
		}
		defer timers.Close()

		// An order is placed. When Set has returned, this is on the disk.
		if _, err := timers.Set(ctx, order.Number, order, 30*time.Minute); err != nil {
			return err
		}
		// It is paid.
		_, inTime, err := timers.Remove(ctx, paid.Number)
		if err != nil {
			return err
		}
		require.Equal(t, paid != Order{}, inTime)
		return nil
	}
	require.NoError(t, program(Order{"1", 17}, Order{}))
	require.NoError(t, program(Order{"2", 18}, Order{"2", 18}))
	require.Empty(t, cancelled)
	later(t, durable.Config[string, Order]{Dir: dir,
		Handle: func(ctx context.Context, f durable.Firing[string, Order]) error { return cancelIfUnpaid(ctx, f.Value) }})
	require.Equal(t, []Order{{"1", 17}}, cancelled)
}

// later opens timers a day later, so that what is pending fires.
func later[V any](t *testing.T, cfg durable.Config[string, V]) {
	mock := clock.NewMock()
	mock.Set(time.Now().Add(24 * time.Hour))
	cfg.Clock = mock
	timers := open(t, cfg)
	mock.Add(0)
	require.Zero(t, timers.Stats().Pending)
}

// runTimers is how a server opens timers and ends.
func runTimers(cfg durable.Config[string, string]) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg.Logger = slog.Default()
	timers, err := durable.Open(ctx, cfg)
	if err != nil {
		return err // it says which directory, and what is wrong with it
	}
	<-ctx.Done()
	patience, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return timers.Shutdown(patience) // then the contexts of the handlers that are left end
}

func TestServerEndsInOrder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process can't send itself an interrupt there")
	}
	self, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)
	hear := make(chan os.Signal, 1) // the test goes on, also if the signal comes late
	signal.Notify(hear, os.Interrupt)
	defer signal.Stop(hear)
	ended := make(chan error)
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Handle: func(context.Context, firing) error { return nil }}
	go func() { ended <- runTimers(cfg) }()
	for {
		require.NoError(t, self.Signal(os.Interrupt))
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				require.NoError(t, err)
				return
			}
			w, err := durable.Open(t.Context(), cfg) // waits for the server whose start was cancelled
			require.NoError(t, err)
			require.NoError(t, w.Close())
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// handleHealth answers whether this process should get work: for a load balancer, or as a readiness probe.
func handleHealth(mux *http.ServeMux, timers *durable.Keyed[string, string]) {
	mux.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if err := timers.Health(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/live", func(http.ResponseWriter, *http.Request) {}) // the process answers, and that is all
}

// A worker stays in service when one of its timers is dead, and while it lives. When its log is damaged, or it ends, it
// is not ready any more.
func TestHealthOfTheDocs(t *testing.T) {
	mock := clock.NewMock()
	w := open(t, durable.Config[string, string]{Dir: filepath.Join(t.TempDir(), "timers"), Clock: mock, MaxAttempts: 1,
		Handle: func(context.Context, firing) error { return errors.New("no") }})
	mux := http.NewServeMux()
	handleHealth(mux, w)
	code := func(path string) int {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		return answer.Code
	}
	require.NoError(t, errOf(w.Set(t.Context(), "a", "", time.Second)))
	mock.Add(time.Second)
	require.Equal(t, 1, w.Stats().Dead)
	require.Equal(t, http.StatusOK, code("/ready"))
	require.NoError(t, w.Close())
	require.Equal(t, http.StatusServiceUnavailable, code("/ready"))
	require.Equal(t, http.StatusOK, code("/live"))
}

// event is what is told to an operator.
var event = regexp.MustCompile(`(?:\.|tell\(slog\.Level)(Info|Warn|Error|Debug)(?:\(|, )"(durable: [^"]+[^ "])"`)

// docs/durable-messages.md has each warning and error, and nothing else.
func TestEventsAreInTheTable(t *testing.T) {
	code, err := snippets.Read("*.go", "internal/*/*.go", "internal/*/*/*.go")
	require.NoError(t, err)
	page, err := snippets.Read("../../docs/durable-messages.md")
	require.NoError(t, err)
	errs, warnings, _ := strings.Cut(page, "# Warnings\n")
	tables := map[string]string{"Warn": warnings, "Error": errs}
	found := 0
	for _, m := range event.FindAllStringSubmatch(code, -1) {
		if table, listed := tables[m[1]]; listed {
			require.Regexp(t, `(?m)^\| [^|]*`+regexp.QuoteMeta("`"+m[2]+"`"), table)
			found++
		}
	}
	require.GreaterOrEqual(t, found, 12)
	for _, m := range regexp.MustCompile("`(durable: [^`]+)`").FindAllStringSubmatch(page, -1) {
		require.True(t, strings.Contains(code, `"`+m[1]+`"`), "the page has %s, and the code does not", m[1])
	}
}

// What docs/durable-calls.md says about schedules and dead timers.
func TestDocsOfSchedules(t *testing.T) {
	ctx, dir, mock := t.Context(), t.TempDir(), clock.NewMock()
	fails := errors.New("no")
	var alerts []string
	alert := func(key string, attempt int, last error) { alerts = append(alerts, key+last.Error()) }
	handle := func(context.Context, durable.Firing[string, string]) error { return fails }
	set := func(timers *durable.Keyed[string, string]) error {
		nightly, err := durable.ParseSchedule("CRON_TZ=Europe/Berlin 30 2 * * *")
		if err != nil {
			return err
		}
		if _, err := timers.SetSchedule(ctx, "report", "all customers", nightly.OnMissed(durable.MissedSkip)); err != nil {
			return err
		}
		return nil
	}
	timers, err := durable.Open(ctx, durable.Config[string, string]{
		Dir:      dir,
		Handle:   handle,
		KeepDead: 30 * 24 * time.Hour,
		OnDead: func(f durable.Firing[string, string], last error) {
			alert(f.Key, f.Attempt, last)
		},
	})
	require.NoError(t, err)
	require.NoError(t, timers.Close())
	timers, err = durable.Open(ctx, durable.Config[string, string]{Dir: dir, Clock: mock, Handle: handle, MaxAttempts: 1,
		OnDead: func(f durable.Firing[string, string], last error) { alert(f.Key, f.Attempt, last) }})
	require.NoError(t, err)
	defer timers.Close()
	require.NoError(t, set(timers))
	mock.Add(48 * time.Hour)
	require.Equal(t, []string{"reportno", "reportno"}, alerts)
}
