package partition

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

var seeds = flag.Int("seeds", 12, "how many random histories are gone through")

// Schedules, with faults of the log, deaths of the process, losses of power and jumps of the clock: no run is lost, and
// none is made twice under two IDs.
func TestRunsModel(t *testing.T) {
	for seed := range (*seeds + 1) / 2 {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			m := newRunsModel(t, uint64(seed))
			for range 60 {
				m.step()
			}
			m.finish()
		})
	}
}

// runsModel has what has been seen of the runs of each key.
type runsModel struct {
	*bench
	rand   *rand.Rand
	faults *rand.Rand
	jumps  bool
	begun  int64                         // the wall time of the first SetSchedule
	most   int64                         // the highest wall time
	seen   map[string]map[frame.ID]*seen // by key
	away   [][2]int64                    // wall times between which there was no owner. The second may be the owner's first
	died   bool
	left   int64 // when it died
}

// seen is a run that has begun.
type seen struct {
	due    int64
	missed uint32
	first  int64 // the wall time of its first attempt
	last   int64
	over   bool // its end is in the log
}

var runsTexts = []string{"@every 7s", "*/5 * * * * *", "* * * * *", "7,8,30 */2 * * * *"}

func newRunsModel(t *testing.T, seed uint64) *runsModel {
	m := &runsModel{bench: newBench(t), rand: rand.New(rand.NewPCG(seed, 21)), faults: rand.New(rand.NewPCG(seed, 22)),
		seen: map[string]map[frame.ID]*seen{}, jumps: seed%3 == 2}
	m.cfg.TrimAbove, m.cfg.MarkEvery = 500, time.Microsecond
	m.handle = m.handler
	m.open()
	m.begun = m.mock.Now().UnixNano()
	for _, key := range m.keys() {
		m.schedule(key, "v", key)
		m.seen[key] = map[frame.ID]*seen{}
	}
	return m
}

func (m *runsModel) keys() (all []string) {
	for _, text := range runsTexts {
		for _, rule := range []schedule.Missed{schedule.MissedOnce, schedule.MissedSkip, schedule.MissedAll} {
			s, err := schedule.Parse(text)
			m.NoError(err)
			all = append(all, s.OnMissed(rule).String())
		}
	}
	return all
}

// die ends the process at its next append, before or after that comes to the disk.
func (m *runsModel) die() {
	p, log := m.p, m.log
	after := m.rand.IntN(2) == 0
	log.SetFault(func([]byte) memlog.Fault {
		if !m.died {
			m.died, m.left = true, m.mock.Now().UnixNano()
		}
		go func() { log.Close(); p.writer.abandon() }()
		if after {
			return memlog.Silence
		}
		return memlog.Drop
	})
}

func (m *runsModel) now() int64 {
	now := m.mock.Now().UnixNano()
	m.most = max(m.most, now)
	return now
}

func (m *runsModel) step() {
	faulty := m.rand.IntN(4) == 0
	m.log.SetFault(func([]byte) memlog.Fault {
		if !faulty {
			return memlog.None
		}
		return memlog.Fault(m.faults.IntN(int(memlog.Stranger) + 1))
	})
	switch m.rand.IntN(8) {
	case 0:
		m.die()
	case 1:
		m.log.SetFault(nil)
		m.left = m.now()
		m.shut()
		m.restart()
	case 2:
		if m.jumps {
			m.mock.Jump(time.Duration(m.rand.IntN(60_000)-20_000) * time.Millisecond)
		}
	}
	m.mock.Add(time.Duration(m.rand.IntN(40_000)) * time.Millisecond)
	m.now()
	if m.died {
		m.crash()
		if m.rand.IntN(2) == 0 {
			m.disk.LosePower()
		} else {
			m.disk.Arrive()
		}
		m.restart()
	}
}

// restart opens the partition after a while.
func (m *runsModel) restart() {
	if m.rand.IntN(3) > 0 {
		m.mock.Add(time.Duration(m.rand.IntN(90_000)) * time.Millisecond)
	}
	m.away = append(m.away, [2]int64{m.left, m.now()})
	m.died = false
	m.open()
}

// handler is called inside Add. A run is the same each time, and none overlaps another.
func (m *runsModel) handler(_ context.Context, f core.Firing) error {
	now := m.now()
	of := m.seen[f.Key]
	s := of[f.ID]
	if s == nil {
		s = &seen{f.Due, f.Missed, now, now, false}
		of[f.ID] = s
	}
	m.Equal(s.due, f.Due, "%s: attempt %d of a run has another due time", f.Key, f.Attempt)
	m.Equal(s.missed, f.Missed, f.Key)
	m.LessOrEqual(s.due, m.most)
	m.False(s.over, "%s runs again", f.Key)
	s.last = now
	for id, other := range of { // what was before it has ended
		m.True(id == f.ID || other.due < s.due)
		other.over = id != f.ID
	}
	if m.rand.IntN(5) == 0 {
		return errHandler
	}
	return nil
}

func (m *runsModel) finish() {
	m.log.SetFault(nil)
	m.handle = func(ctx context.Context, f core.Firing) error {
		_ = m.handler(ctx, f)
		return nil
	}
	m.mock.Add(2 * time.Minute)
	if m.jumps { // until all has run that was due before a jump back
		m.mock.Add(time.Duration(m.most - m.mock.Now().UnixNano()))
		m.mock.Add(2 * time.Minute)
	}
	m.now()
	for key, of := range m.seen {
		s, err := schedule.Parse(key)
		m.NoError(err)
		var all []*seen
		for _, r := range of {
			all = append(all, r)
		}
		slices.SortFunc(all, func(a, b *seen) int { return cmp.Compare(a.due, b.due) })
		m.check(key, s, all)
	}
	m.shut()
}

// check goes over all runs that were due.
func (m *runsModel) check(key string, s schedule.Schedule, all []*seen) {
	m.Greater(len(all), 10, key)
	skipped := 0
	next := func(after int64) int64 { return s.Next(time.Unix(0, after).UTC()).UnixNano() }
	for at := next(m.begun); at <= m.most; at = next(at) {
		m.NotEmpty(all, "%s: the run at %d is lost", key, at)
		r := all[0]
		if s.Missed() == schedule.MissedSkip {
			m.Zero(r.missed)
			if at != r.due {
				m.True(m.jumps || m.excused(at, r, m.seen[key]), "%s: the run at %d is lost", key, at)
				skipped++
				continue
			}
			all = all[1:]
			continue
		}
		m.LessOrEqual(at, r.due, "%s: a run at %d that is none", key, r.due)
		if at == r.due {
			m.EqualValues(skipped, r.missed, key)
			all, skipped = all[1:], 0
			continue
		}
		m.Equal(schedule.MissedOnce, s.Missed(), key)
		skipped++
	}
	m.Empty(all, key)
}

// excused reports whether MissedSkip allows that no run was made: nobody was there, or another run went on. next is the
// next one that was made.
func (m *runsModel) excused(at int64, next *seen, of map[frame.ID]*seen) bool {
	for _, a := range m.away {
		if a[0] <= at && at < a[1] {
			return true
		}
	}
	for _, r := range of {
		if r.due < at && at <= r.last && r.due < next.due {
			return true
		}
	}
	return false
}
