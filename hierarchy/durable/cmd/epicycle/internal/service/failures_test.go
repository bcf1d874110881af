package service

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// Of each place one failure is logged, and then the last one of each minute in which there are some. None is left out of
// the numbers, and not more places are held than may be.
func TestFailuresOfPlaces(t *testing.T) {
	var f failures
	random := rand.New(rand.NewPCG(1, 2))
	failed, logged := 0, 0
	for step := range 20_000 {
		if random.IntN(4) > 0 {
			one := &failure{place: place{task.Webhook, fmt.Sprint("host", random.IntN(2*maxPlaces))}, attempt: step}
			at, first := f.add(one)
			require.Contains(t, []place{one.place, {}}, at)
			if failed++; first {
				logged++
			} else {
				require.Equal(t, *one, f.places[at].last)
			}
			continue
		}
		for at, s := range f.places {
			count, last := s.count, s.last
			got, others, ok := f.next(at)
			require.Equal(t, count > 0, ok)
			require.Equal(t, ok, f.places[at] != nil, "a place is held as long as attempts fail there")
			if ok {
				require.Equal(t, last, got)
				logged += 1 + others
			}
			break
		}
		require.LessOrEqual(t, len(f.places), maxPlaces+1)
	}
	for len(f.places) > 0 {
		for at := range f.places {
			if _, others, ok := f.next(at); ok {
				logged += 1 + others
			}
		}
	}
	require.Equal(t, failed, logged)
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// of returns the lines with a text.
func (l *lines) of(text string) (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, text) {
			all = append(all, line)
		}
	}
	return all
}

// The line about a failure says why, and when the next attempt is. What follows within a minute is one line.
func TestFailuresAreLogged(t *testing.T) {
	var log lines
	s := open(t, slog.New(slog.NewTextHandler(&log, nil)))
	const text = "epicycle: a firing of a queue failed"
	fail := func(key, why string, timeout time.Duration) {
		to := task.Task{Value: []byte("1"), To: task.Target{Kind: task.Queue, Name: "q"}, Timeout: timeout}
		require.NoError(t, errOf(s.Set(t.Context(), key, to, 0)))
		taken := s.TakeWithin(t.Context(), "q", 1, time.Hour, key)
		require.Len(t, taken, 1)
		if why == "" {
			return
		}
		require.Equal(t, []error{nil}, s.End(t.Context(), "q", []string{taken[0].Token}, errors.New(why), ""))
	}
	fail("a", "no luck", time.Hour)
	e, ok, err := s.Lookup(t.Context(), "a")
	require.NoError(t, err)
	require.True(t, ok)
	require.Len(t, log.of(text), 1)
	require.Contains(t, log.of(text)[0], fmt.Sprintf(`level=WARN msg=%q queue=q key=a id=%v attempt=1 err="no luck" next=%v`,
		text, e.ID, e.Next.UTC().Format(time.RFC3339)))
	fail("b", "again", time.Hour)
	fail("c", "", time.Millisecond)
	eventually(t, func() bool { e, _, _ := s.Lookup(t.Context(), "c"); return e.LastError != "" })
	require.Len(t, log.of(text), 1)
	s.spellEnds(place{task.Queue, "q"})
	require.Len(t, log.of(text), 2)
	require.Regexp(t, ` key=c id=\w+ attempt=1 err="the worker has given no answer within the timeout 1ms" next=\S+ suppressed=1\n$`, log.of(text)[1])
	s.spellEnds(place{task.Queue, "q"})
	require.Len(t, log.of(text), 2)
	require.Empty(t, s.failing.places)
	fail("d", "after a quiet minute", time.Hour)
	require.Len(t, log.of(text), 3)
}

// A timer that was changed during its attempt has not failed.
func TestChangedTimersHaveNotFailed(t *testing.T) {
	var log lines
	s := open(t, slog.New(slog.NewTextHandler(&log, nil)))
	to := task.Task{Value: []byte("1"), To: task.Target{Kind: task.Queue, Name: "q"}, Timeout: time.Hour}
	require.NoError(t, errOf(s.Set(t.Context(), "k", to, 0)))
	taken := s.TakeWithin(t.Context(), "q", 1, time.Hour, "")
	require.NoError(t, errOf(s.Set(t.Context(), "k", to, time.Hour)))
	require.Equal(t, []error{errToken}, s.End(t.Context(), "q", []string{taken[0].Token}, errors.New("no"), ""))
	require.Empty(t, log.of("failed"))
	require.Empty(t, s.failing.places)
}
