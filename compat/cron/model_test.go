package cron_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/cron"
)

// reference is a Cron as one would write it down: a list that is searched for each step of time.
type reference struct {
	now     time.Time
	running bool
	entries []*referenceEntry
	runs    []string
}

type referenceEntry struct {
	id         cron.EntryID
	schedule   cron.Schedule
	prev, next time.Time
}

func (r *reference) start() {
	if r.running {
		return
	}
	r.running = true
	for _, e := range r.entries {
		e.next = e.schedule.Next(r.now)
	}
}

func (r *reference) add(id cron.EntryID, s cron.Schedule) {
	e := &referenceEntry{id: id, schedule: s}
	if r.running {
		e.next = s.Next(r.now)
	}
	r.entries = append(r.entries, e)
}

func (r *reference) remove(id cron.EntryID) {
	r.entries = slices.DeleteFunc(r.entries, func(e *referenceEntry) bool { return e.id == id })
}

// pass lets d pass, from one time of an entry to the next.
func (r *reference) pass(d time.Duration) {
	end := r.now.Add(d)
	for {
		r.runDue()
		next := end
		for _, e := range r.entries {
			if r.running && !e.next.IsZero() && e.next.Before(next) {
				next = e.next
			}
		}
		if !next.After(r.now) {
			r.now = end
			r.runDue()
			return
		}
		r.now = next
	}
}

func (r *reference) runDue() {
	for _, e := range r.entries {
		if !r.running || e.next.IsZero() || e.next.After(r.now) {
			continue
		}
		r.runs = append(r.runs, fmt.Sprint(r.now.Format(time.RFC3339Nano), " ", e.id))
		e.prev, e.next = e.next, e.schedule.Next(r.now)
	}
}

// check requires that c has the entries of the reference.
func (r *reference) check(t *testing.T, c *cron.Cron) {
	got := c.Entries()
	require.Len(t, got, len(r.entries))
	for _, e := range r.entries {
		entry := c.Entry(e.id)
		require.True(t, e.prev.Equal(entry.Prev), "%v: previous %v, want %v", e.id, entry.Prev, e.prev)
		require.True(t, e.next.Equal(entry.Next), "%v: next %v, want %v", e.id, entry.Next, e.next)
	}
	require.True(t, slices.IsSortedFunc(got, func(a, b cron.Entry) int {
		switch {
		case a.Next.Equal(b.Next):
			return int(a.ID - b.ID)
		case a.Next.IsZero():
			return 1
		case b.Next.IsZero():
			return -1
		}
		return a.Next.Compare(b.Next)
	}))
}

// Entries come and go, the Cron is started and stopped, time passes, and the wall clock is set forward.
func TestModel(t *testing.T) {
	specs := []string{"* * * * *", "*/7 * * * *", "30 2 * * *", "0 0 * * mon", "@hourly", "@every 90s", "@every 7h", "0 0 30 2 *",
		"CRON_TZ=Europe/Berlin 30 2 * * *", "CRON_TZ=Europe/Berlin */20 2,3 * * *", "0 0 31 3 *"}
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 1))
		c, m := onMock(t)
		want := &reference{now: m.Now()}
		var runs []string
		var ids []cron.EntryID
		for range 200 {
			switch r.IntN(12) {
			case 0, 1, 2:
				s, err := cron.ParseStandard(specs[r.IntN(len(specs))])
				require.NoError(t, err)
				var id cron.EntryID
				id = c.Schedule(s, cron.FuncJob(func() {
					runs = append(runs, fmt.Sprint(m.Now().Format(time.RFC3339Nano), " ", id))
				}))
				want.add(id, s)
				ids = append(ids, id)
			case 3:
				if len(ids) > 0 {
					id := ids[r.IntN(len(ids))] // perhaps it is removed already
					c.Remove(id)
					want.remove(id)
				}
			case 4, 5:
				c.Start()
				want.start()
			case 6:
				if r.IntN(3) == 0 {
					c.Stop()
					want.running = false
				}
			case 7:
				jump := time.Duration(r.Int64N(int64(3 * time.Hour)))
				m.Jump(jump)
				m.Add(0)
				want.now = want.now.Add(jump)
				want.runDue()
			default:
				d := time.Duration(r.Int64N(int64(3 * time.Hour)))
				m.Add(d)
				want.pass(d)
			}
			want.check(t, c)
			slices.Sort(runs) // those of one moment run in any order
			slices.Sort(want.runs)
			require.Equal(t, want.runs, runs)
			runs, want.runs = nil, nil
		}
	}
}
