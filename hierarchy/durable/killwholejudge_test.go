package durable_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
)

// told is what all processes have said.
type told struct {
	t  *testing.T
	mu sync.Mutex // held while a line is noted

	raced   map[string]string   // the value that has won a key
	lost    map[string]bool     // keys that somebody has not won
	own     map[string][2]int64 // of a key: the last value that was acknowledged, and the last one that was called for
	hangs   map[string]bool
	set     map[string]bool
	fired   map[string]bool
	runs    map[string][]*wholeRun // of each schedule, in order
	ids     map[string]bool        // of those runs
	late    map[string][]*wholeRun // further attempts of any runs: when they were told, their time was over
	repeats int                    // firings that came again
}

// wholeRun is a run of a schedule.
type wholeRun struct {
	id     string
	due    int64
	missed int64
}

func (o *told) note(line string) { o.noteLine(func() string { return line }) }

// noteLine notes a line that is made while nothing else is noted.
func (o *told) noteLine(make func() string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	line := make()
	f := strings.Fields(line)
	switch {
	case len(f) == 0:
	case f[0] == "failed":
		assert.Fail(o.t, line)
	case f[0] == "raced" && len(f) == 4 && f[3] == "false":
		o.lost[f[1]] = true
	case f[0] == "raced" && len(f) == 4:
		assert.Empty(o.t, o.raced[f[1]], "%s: two callers have set it though it was there", f[1])
		o.raced[f[1]] = f[2]
	case (f[0] == "begin" || f[0] == "done") && len(f) == 3:
		n, err := strconv.ParseInt(f[2], 10, 64)
		assert.NoError(o.t, err)
		was := o.own[f[1]]
		if was[1] = n; f[0] == "done" {
			was[0] = n
		}
		o.own[f[1]] = was
	case f[0] == "hangs" && len(f) == 2:
		o.hangs[f[1]] = true
	case f[0] == "set" && len(f) == 2:
		o.set[f[1]] = true
	case (f[0] == "fire" || f[0] == "late") && len(f) == 5:
		o.fire(f[0] == "late", f[1:])
	}
}

// fire notes a firing: key, ID, due and missed.
func (o *told) fire(late bool, f []string) {
	key := f[0]
	if _, ok := wholeSchedules[key]; !ok {
		if o.fired[key] {
			o.repeats++
		}
		o.fired[key] = true
		return
	}
	due, err := strconv.ParseInt(f[2], 10, 64)
	assert.NoError(o.t, err)
	missed, err := strconv.ParseInt(f[3], 10, 64)
	assert.NoError(o.t, err)
	if run := (&wholeRun{key + " " + f[1], due, missed}); late {
		o.late[key] = append(o.late[key], run)
	} else {
		o.run(key, run)
	}
}

// run notes an attempt of a run whose time was not over. Such attempts come in order.
func (o *told) run(key string, run *wholeRun) {
	runs := o.runs[key]
	if last := len(runs) - 1; last >= 0 && runs[last].id == run.id {
		assert.Equal(o.t, runs[last].due, run.due, "%s: a run that has begun is due at another time", key)
		o.repeats++
		return
	} else if last >= 0 {
		assert.Less(o.t, runs[last].due, run.due, "%s: two runs for one time, or back in time", key)
	}
	assert.False(o.t, o.ids[run.id], "%s: a run comes again after the next one", key)
	o.ids[run.id] = true
	o.runs[key] = append(runs, run)
}

// allRuns are also those of which each attempt was told late. They come in order of their times.
func (o *told) allRuns(key string) []*wholeRun {
	all := slices.Clone(o.runs[key])
	for _, run := range o.late[key] {
		if !o.ids[run.id] {
			o.ids[run.id] = true
			all = append(all, run)
		}
	}
	slices.SortFunc(all, func(a, b *wholeRun) int { return cmp.Compare(a.due, b.due) })
	return all
}

// grid checks the times of the runs of a schedule.
func (o *told) grid(key string, missed durable.Missed) {
	runs := o.allRuns(key)
	require.NotEmpty(o.t, runs, key)
	for i, r := range runs[1:] {
		step := r.due - runs[i].due
		require.Zero(o.t, step%int64(wholePeriod), "%s: not on the grid", key)
		steps := step / int64(wholePeriod)
		switch missed {
		case durable.MissedAll:
			require.EqualValues(o.t, 1, steps, "%s: each run is made", key)
		case durable.MissedOnce:
			require.Equal(o.t, r.missed+1, steps, "%s: run %d stands for those since the one before", key, i+1)
		}
	}
}

// A process with schedules, conditions and handlers that hang is killed at random moments, again and again. Nothing is
// lost, no condition answers wrongly, and no time of a schedule has two runs.
func TestKillNineWhole(t *testing.T) {
	dir := t.TempDir()
	o := &told{t: t, raced: map[string]string{}, lost: map[string]bool{}, own: map[string][2]int64{}, hangs: map[string]bool{},
		set: map[string]bool{}, fired: map[string]bool{}, runs: map[string][]*wholeRun{}, ids: map[string]bool{},
		late: map[string][]*wholeRun{}}
	for range *kills {
		killWhole(t, dir, o.note)
		require.False(t, t.Failed())
	}
	w, err := durable.Open(t.Context(), wholeConfig(dir, o.noteLine))
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	before := o.runsOf()
	var there map[string]string
	require.Eventually(t, func() bool {
		var dead map[string]int
		there, dead = whatIs(t, w)
		return o.done(there, dead, before)
	}, 5*time.Minute, 50*time.Millisecond)
	require.NoError(t, w.Close())
	o.mu.Lock()
	defer o.mu.Unlock()
	o.judge(there)
	for key, missed := range wholeSchedules {
		o.grid(key, missed)
	}
	t.Logf("%d raced, %d own, %d hang, %d fired, %d repeated, runs of schedules: %d, %d, %d", len(o.raced), len(o.own), len(o.hangs),
		len(o.fired), o.repeats, len(o.runs["run-once"]), len(o.runs["run-skip"]), len(o.runs["run-all"]))
}

// whatIs returns the values of the timers, and the attempts of those that are dead.
func whatIs(t *testing.T, w *strs) (there map[string]string, dead map[string]int) {
	there, dead = map[string]string{}, map[string]int{}
	for e, err := range w.All(t.Context()) {
		assert.NoError(t, err)
		there[e.Key] = e.Value
	}
	for f, err := range w.Dead(t.Context()) {
		assert.NoError(t, err)
		dead[f.Key] = f.Attempt
	}
	return there, dead
}

// runsOf returns how many runs each schedule has had.
func (o *told) runsOf() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := map[string]int{}
	for key := range wholeSchedules {
		n[key] = len(o.runs[key])
	}
	return n
}

// done reports whether all has ended that must: handlers that hang, what was to fire, and a run of each schedule since
// there were so many.
func (o *told) done(there map[string]string, dead map[string]int, before map[string]int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key := range o.hangs {
		if dead[key] != wholeAttempts {
			return false
		}
	}
	for key := range o.set {
		if _, pending := there[key]; pending || !o.fired[key] {
			return false
		}
	}
	for key, n := range before {
		if len(o.runs[key]) == n {
			return false
		}
	}
	return true
}

// killWhole runs one process, and kills it.
func killWhole(t *testing.T, dir string, note func(line string)) {
	opened := make(chan bool)
	p, err := child.Start(child.Spec{Variable: wholeWorker, Config: dir, Line: func(line string) error {
		if note(line); line == "open" {
			close(opened)
		}
		return nil
	}})
	require.NoError(t, err)
	defer p.End()
	select {
	case <-opened:
		time.Sleep(time.Duration(50+rand.IntN(500)) * time.Millisecond)
	case <-p.Ended():
	}
	select {
	case <-p.Ended():
		require.Fail(t, "it ended by itself", "%v", p.Err())
	default:
	}
}

// judge compares what is there with what was said.
func (o *told) judge(there map[string]string) {
	t := o.t
	for key, value := range o.raced {
		require.Equal(t, value, there[key], key)
	}
	for key := range o.lost {
		require.NotEmpty(t, there[key], "%s: all have lost", key)
	}
	for key, n := range o.own {
		value, err := strconv.ParseInt(there[key], 10, 64)
		if n[0] == 0 && err != nil {
			continue // the first Set was not acknowledged
		}
		require.NoError(t, err, key)
		require.GreaterOrEqual(t, value, n[0], key)
		require.LessOrEqual(t, value, n[1], key)
	}
	for key := range wholeSchedules {
		require.Equal(t, key, there[key])
	}
}
