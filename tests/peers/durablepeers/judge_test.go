package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Times of the tests of the judge, in nanoseconds.
const (
	asked = 100
	due   = 1000
)

func judged(events ...event) verdict {
	j := newJudge()
	j.add(events)
	return j.verdict()
}

func TestJudgeFindsNothing(t *testing.T) {
	v := judged(event{scheduled, 1, due, asked}, event{fired, 1, 0, due}, event{fired, 2, 0, due + 7}, event{scheduled, 2, due, asked})
	require.Equal(t, verdict{Acked: 2, Late: []time.Duration{0, 7}}, v)
}

func TestJudgeFindsLost(t *testing.T) {
	v := judged(event{scheduled, 1, due, asked}, event{scheduled, 2, due, asked}, event{fired, 2, 0, due})
	require.Equal(t, verdict{Acked: 2, Lost: 1, Late: []time.Duration{0}}, v)
}

func TestJudgeFindsTwice(t *testing.T) {
	v := judged(event{scheduled, 1, due, asked}, event{fired, 1, 0, due + 1}, event{fired, 1, 0, due + 2}, event{fired, 1, 0, due + 3})
	require.Equal(t, verdict{Acked: 1, Twice: 1, Late: []time.Duration{1}}, v)
}

func TestJudgeFindsEarly(t *testing.T) {
	v := judged(event{scheduled, 1, due, asked}, event{fired, 1, 0, due - 1}, event{scheduled, 2, due, asked}, event{fired, 2, 0, due - 5})
	require.Equal(t, verdict{Acked: 2, Early: 2, Earliest: 5}, v)
}

// What was acknowledged after it was due is late since then.
func TestJudgeCountsLatenessSinceTheAnswer(t *testing.T) {
	require.Equal(t, []time.Duration{3}, judged(event{scheduled, 1, due, due + 50}, event{fired, 1, 0, due + 53}).Late)
	require.Equal(t, []time.Duration{0}, judged(event{scheduled, 1, due, due + 50}, event{fired, 1, 0, due + 20}).Late)
}

// What was not acknowledged may have been lost, or fire.
func TestJudgeIgnoresWhatWasNotAcknowledged(t *testing.T) {
	require.Equal(t, verdict{}, judged(event{fired, 1, 0, due}, event{fired, 1, 0, due}))
}

func TestJudgeOfCancelled(t *testing.T) {
	cancelledAt := event{cancelled, 1, 0, 500}
	never := judged(event{scheduled, 1, due, asked}, cancelledAt)
	require.Equal(t, verdict{Acked: 1, Cancelled: 1}, never)
	before := judged(event{scheduled, 1, due, asked}, cancelledAt, event{fired, 1, 0, 499})
	require.Equal(t, verdict{Acked: 1, Cancelled: 1, Before: 1}, before)
	after := judged(event{scheduled, 1, due, asked}, event{fired, 1, 0, 501}, cancelledAt)
	require.Equal(t, verdict{Acked: 1, Cancelled: 1, After: 1}, after)
}

func TestJudgeKnowsWhenAllHaveFired(t *testing.T) {
	j := newJudge()
	j.add([]event{{fired, 1, 0, due}, {fired, 1, 0, due}, {fired, 3, 0, due}})
	require.Zero(t, j.firsts)
	j.add([]event{{scheduled, 1, due, asked}, {scheduled, 2, due, asked}})
	require.Equal(t, 2, j.acked)
	require.Equal(t, 1, j.firsts)
	j.add([]event{{fired, 2, 0, due + 1}, {fired, 2, 0, due + 2}})
	require.Equal(t, 2, j.firsts)
	require.EqualValues(t, due+2, j.last)
}

func TestGap(t *testing.T) {
	j := newJudge()
	require.Zero(t, j.gap(time.Unix(0, due)))
	j.add([]event{{fired, 1, 0, 10}, {fired, 2, 0, 70}, {fired, 3, 0, 40}, {fired, 4, 0, 500}})
	require.EqualValues(t, 430, j.gap(time.Unix(0, due)))
	require.EqualValues(t, 30, j.gap(time.Unix(0, 80)))
}

// Events are read as they were recorded, by several recorders, also while the last one is being written.
func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), eventsFile)
	a, err := openRecorder(path)
	require.NoError(t, err)
	defer a.file.Close()
	b, err := openRecorder(path)
	require.NoError(t, err)
	defer b.file.Close()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r := reader{f}

	want := []event{{scheduled, 1, due, asked}, {fired, 1<<32 - 1, 0, 1 << 62}, {cancelled, 7, -1, 3}}
	require.NoError(t, a.add(want[0]))
	require.NoError(t, b.add(want[1]))
	got, err := r.next()
	require.NoError(t, err)
	require.Equal(t, want[:2], got)

	require.NoError(t, a.add(want[2]))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	last := whole[2*eventSize:]
	require.NoError(t, os.Truncate(path, 2*eventSize+5))
	got, err = r.next()
	require.NoError(t, err)
	require.Empty(t, got)
	_, err = a.file.Write(last[5:])
	require.NoError(t, err)
	got, err = r.next()
	require.NoError(t, err)
	require.Equal(t, want[2:], got)

	_, err = a.file.Write(make([]byte, eventSize))
	require.NoError(t, err)
	_, err = r.next()
	require.Error(t, err)
}
