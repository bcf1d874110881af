package partition

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// Schedules are paused and resumed, with faults of the log, deaths of the process, losses of power and trimming: nothing
// begins in a pause, nothing changes in it, none of what was due in it is made up for, and in the end all go on.
func TestPausesModel(t *testing.T) {
	for seed := range (*seeds + 1) / 2 {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			m := newPauses(t, uint64(seed))
			for range 150 {
				m.step()
			}
			m.finish()
		})
	}
}

// pauses has what is known for sure of each key.
type pauses struct {
	*bench
	rand   *rand.Rand
	faults *rand.Rand
	paused map[string]*state.Timer // of keys that are paused: the timer, which does not change
	ran    map[string]int
	died   bool
}

var pausesTexts = []string{"@every 7s", "MISSED=skip */5 * * * * *", "MISSED=all @every 3s", "*/20 * * * * *"}

func newPauses(t *testing.T, seed uint64) *pauses {
	m := &pauses{bench: newBench(t), rand: rand.New(rand.NewPCG(seed, 31)), faults: rand.New(rand.NewPCG(seed, 32)),
		paused: map[string]*state.Timer{}, ran: map[string]int{}}
	m.cfg.TrimAbove, m.cfg.MarkEvery = 400, time.Microsecond
	m.handle = m.handler
	m.open()
	for _, text := range pausesTexts {
		m.schedule(text, "v", text)
	}
	return m
}

func (m *pauses) handler(_ context.Context, f core.Firing) error {
	m.Nil(m.paused[f.Key], "%s fires in a pause", f.Key)
	m.ran[f.Key]++
	if m.rand.IntN(3) == 0 {
		return errHandler
	}
	return nil
}

func (m *pauses) step() {
	faulty := m.rand.IntN(5) == 0
	m.log.SetFault(func([]byte) memlog.Fault {
		if !faulty {
			return memlog.None
		}
		return memlog.Fault(m.faults.IntN(int(memlog.Stranger) + 1))
	})
	key := pausesTexts[m.rand.IntN(len(pausesTexts))]
	if m.rand.IntN(12) == 0 {
		m.die()
	}
	switch m.rand.IntN(8) {
	case 0, 1:
		m.pause(key)
	case 2, 3:
		m.resume(key)
	case 4:
		m.change(key, core.Op{Kind: frame.Move, In: time.Duration(m.rand.IntN(9000)) * time.Millisecond})
	case 5:
		m.change(key, core.Op{Kind: frame.SetAt, Value: []byte("v"), Schedule: []byte(key)})
	case 6:
		m.log.SetFault(nil)
		if !m.died {
			m.shut()
			m.mock.Add(time.Duration(m.rand.IntN(5000)) * time.Millisecond)
			m.open()
		}
	}
	m.mock.Add(time.Duration(m.rand.IntN(12_000)) * time.Millisecond)
	if m.died {
		m.revive()
	}
	m.compare()
}

// die ends the process at its next append, before or after that comes to the disk.
func (m *pauses) die() {
	p, log := m.p, m.log
	after := m.rand.IntN(2) == 0
	log.SetFault(func([]byte) memlog.Fault {
		go func() { log.Close(); p.writer.abandon() }()
		if after {
			return memlog.Silence
		}
		return memlog.Drop
	})
	m.died = true
}

func (m *pauses) revive() {
	m.crash()
	if m.rand.IntN(2) == 0 {
		m.disk.LosePower()
	} else {
		m.disk.Arrive()
	}
	m.died = false
	m.open()
}

// ask calls for an operation on a key. If there is no answer, the key may be paused or not, and changes by whatever
// comes first.
func (m *pauses) ask(key string, a core.Op) (t state.Timer, ok bool) {
	a.Key = []byte(key)
	was := m.paused[key]
	delete(m.paused, key)
	took, err := m.try(a)
	if err != nil {
		m.True(m.died, "%v", err)
		return t, false
	}
	m.True(took)
	if m.died {
		return t, false
	}
	t = m.timer(key)
	if was != nil {
		m.Equal(a.Kind != frame.Resume, t.Paused)
	}
	return t, true
}

// timer returns the timer of a key, wherever trimming has written it.
func (m *pauses) timer(key string) state.Timer {
	t, ok, err := m.p.Lookup([]byte(key))
	m.NoError(err)
	m.True(ok)
	t.Home = 0
	return t
}

func (m *pauses) pause(key string) {
	was := m.paused[key]
	t, ok := m.ask(key, core.Op{Kind: frame.Pause})
	if !ok {
		return
	}
	if m.True(t.Paused); was != nil {
		m.Equal(*was, t)
	}
	m.paused[key] = &t
}

func (m *pauses) resume(key string) {
	was := m.paused[key]
	t, ok := m.ask(key, core.Op{Kind: frame.Resume})
	if !ok {
		return
	}
	m.False(t.Paused)
	waits := func(t *state.Timer) int64 { return max(t.Due, t.Next) } // the clocks are the same
	now := m.mock.Now().UnixNano()
	switch {
	case was == nil:
	case waits(was) > now:
		was.Paused = false
		m.Equal(*was, t)
	default:
		m.Greater(t.Due, now)
		m.Zero(t.Attempt)
		m.NotEqual(was.ID, t.ID)
	}
}

// change moves or sets a timer, which stays paused.
func (m *pauses) change(key string, a core.Op) {
	paused := m.paused[key] != nil
	if t, ok := m.ask(key, a); ok && paused {
		m.paused[key] = &t
	}
}

// compare finds that nothing has changed in a pause.
func (m *pauses) compare() {
	for key, want := range m.paused {
		m.Equal(*want, m.timer(key))
	}
}

func (m *pauses) finish() {
	m.log.SetFault(nil)
	for _, key := range pausesTexts {
		m.resume(key)
		m.Positive(m.ran[key])
	}
	clear(m.ran)
	m.mock.Add(time.Minute)
	for _, key := range pausesTexts {
		m.GreaterOrEqual(m.ran[key], 2)
	}
	m.shut()
}
