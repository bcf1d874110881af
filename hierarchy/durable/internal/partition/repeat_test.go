package partition

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// Random requests, each repeated until it is answered, and later again, over faults of the log,
// deaths, losses of power, shutdowns and trims: each is committed once.
func TestRandomRepetitions(t *testing.T) {
	for seed := range uint64(*seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			r := &repeater{bench: newBench(t), rand: rand.New(rand.NewPCG(seed, 9)), faults: rand.New(rand.NewPCG(seed, 10)),
				timers: map[string]string{}}
			r.cfg.TrimAbove, r.cfg.MaxPending, r.cfg.MarkEvery = 200, 5, time.Microsecond
			r.open()
			r.from = uint64(r.mock.Now().UnixNano())
			for range 300 {
				r.step()
			}
			r.crash()
			r.open()
			r.Equal(r.timers, r.keys(false))
			r.Equal(r.ids(), r.lastIDs)
		})
	}
}

type repeater struct {
	*bench
	rand    *rand.Rand
	timers  map[string]string // as they must be
	done    []answered
	lastIDs map[string]frame.ID
	dying   atomic.Bool
	faults  *rand.Rand // used by the log
	floor   uint64     // of the last request
	from    uint64     // requests are numbered from this time of the log on
}

// answered is a request and its answer.
type answered struct {
	ops   []core.Op
	parts []core.Part
	took  []bool
	at    time.Duration
	known bool // whether the fields below are
	first frame.ID
	dues  []int64
}

func (r *repeater) step() {
	r.mock.Add(time.Duration(r.rand.IntN(2000)) * time.Millisecond)
	if n := len(r.done); n > 0 && r.rand.IntN(3) == 0 {
		serial := max(0, n-1-r.rand.IntN(20))
		if r.mock.Elapsed()-r.done[n-1].at < state.Remember {
			r.until(uint64(serial), &r.done[serial])
			r.Equal(r.lastIDs, r.ids())
		}
		return
	}
	if r.rand.IntN(3) == 0 {
		r.floor = max(r.floor, uint64(max(0, len(r.done)-r.rand.IntN(12))))
	}
	want := r.expect()
	r.until(uint64(len(r.done)), &want)
	r.done = append(r.done, want)
	r.Equal(r.timers, r.keys(false))
	r.lastIDs = r.ids()
	r.check(&want)
}

// expect makes a request, and says what its answer must be.
func (r *repeater) expect() (want answered) {
	want.at = r.mock.Elapsed()
	for range 1 + r.rand.IntN(3) {
		r.part(&want)
	}
	return want
}

// part adds a part to a request.
func (r *repeater) part(want *answered) {
	next := map[string]string{}
	for k, v := range r.timers {
		next[k] = v
	}
	var p core.Part
	var took []bool
	var removed []string
	n := 1 + r.rand.IntN(3)
	for range n {
		k := fmt.Sprint(r.rand.IntN(7))
		v, there := next[k]
		switch r.rand.IntN(4) {
		case 0:
			want.ops, took = append(want.ops, removeOp(k)), append(took, there)
			if there {
				removed = append(removed, v)
			}
			delete(next, k)
		case 1:
			a := r.setOp(k, "")
			a.Kind = frame.Move
			want.ops, took = append(want.ops, a), append(took, there)
		default:
			next[k] = fmt.Sprint(r.rand.IntN(1000))
			want.ops, took = append(want.ops, r.setOp(k, next[k])), append(took, true)
		}
	}
	if len(next) > max(len(r.timers), r.cfg.MaxPending) {
		p.Err = core.ErrFull
		clear(took)
	} else {
		r.timers = next
		p.Value = listOf(n, removed)
	}
	p.End = len(want.ops)
	want.parts, want.took = append(want.parts, p), append(want.took, took...)
}

// listOf is the Value of a part of n operations that takes out values.
func listOf(n int, values []string) (list string) {
	if n == 1 {
		return strings.Join(values, "")
	}
	for _, v := range values {
		list += string(rune(len(v))) + v
	}
	return list
}

// until asks until there is an answer, which must be that.
func (r *repeater) until(serial uint64, want *answered) {
	for answered := false; !answered; {
		r.disturb()
		c := &core.Call{Ops: slices.Clone(want.ops), Request: core.RequestID{Caller: 7, Serial: r.from + serial, Floor: r.from + min(r.floor, serial)}}
		for _, p := range want.parts {
			c.Parts = append(c.Parts, core.Part{End: p.End})
		}
		err := r.p.Do(r.t.Context(), c)
		r.log.SetFault(nil)
		switch {
		case err == nil:
			answered = true
			r.GreaterOrEqual(serial, r.floor)
			r.Equal(want.took, c.Took)
			r.Equal(want.parts, c.Parts)
			r.same(want, c)
		case errors.Is(err, core.ErrForgotten):
			answered = true
			r.Less(serial, r.floor)
		default:
			r.True(r.dying.Load(), "%v", err)
		}
		if r.dying.Swap(false) {
			r.rise()
		}
	}
}

// same finds that all answers to a request have the same IDs and due times.
func (r *repeater) same(want *answered, c *core.Call) {
	var dues []int64
	for i := range c.Ops {
		if c.Took[i] && c.Ops[i].Kind.Renews() {
			dues = append(dues, c.Ops[i].Due)
		}
	}
	if !want.known {
		want.known, want.first, want.dues = true, c.First, dues
	}
	r.Equal(want.dues, dues)
	if core.Committed(c.Took) > 0 {
		r.Equal(want.first, c.First)
	}
}

// check finds that the answer to the latest request has the IDs and due times of its timers.
func (r *repeater) check(want *answered) {
	id, dues := want.first, want.dues
	made := map[string]state.Timer{}
	for i := range want.ops {
		a := &want.ops[i]
		if !want.took[i] {
			continue
		}
		if delete(made, string(a.Key)); a.Kind.Renews() {
			made[string(a.Key)] = state.Timer{ID: id, Due: dues[0]}
			dues = dues[1:]
		}
		id.Number++
	}
	r.NoError(r.p.All(false, func(t state.Timer) bool {
		if m, ok := made[t.Key]; ok {
			r.Equal(m, state.Timer{ID: t.ID, Due: t.Due})
			delete(made, t.Key)
		}
		return true
	}))
	r.Empty(made)
}

// rise opens the partition after a death.
func (r *repeater) rise() {
	r.crash()
	if r.rand.IntN(2) == 0 {
		r.disk.LosePower()
	} else {
		r.disk.Arrive()
	}
	r.open()
}

// disturb has something go wrong soon, or shuts the partition.
func (r *repeater) disturb() {
	p, log := r.p, r.log
	switch r.rand.IntN(8) {
	case 0:
		r.shut()
		r.open()
	case 1, 2:
		after := r.rand.IntN(2) == 0
		log.SetFault(func([]byte) memlog.Fault { // death
			r.dying.Store(true)
			go func() { log.Close(); p.writer.abandon() }()
			if after {
				return memlog.Silence
			}
			return memlog.Drop
		})
	case 3:
		log.SetFault(func([]byte) memlog.Fault { return memlog.Fault(r.faults.IntN(int(memlog.Stranger) + 1)) })
	}
}

// ids are those of all timers. A request that is committed again would give a new one.
func (r *repeater) ids() map[string]frame.ID {
	ids := map[string]frame.ID{}
	r.NoError(r.p.All(false, func(t state.Timer) bool {
		ids[t.Key] = t.ID
		return true
	}))
	return ids
}
