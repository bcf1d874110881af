package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition/partitiontest"
)

// anyWorker returns one of the processes that own partitions, or nil if all have just ended.
func (w *world) anyWorker(r *rand.Rand) *worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.living) == 0 {
		return nil
	}
	return w.living[r.IntN(len(w.living))]
}

// any returns one of all processes.
func (w *world) any(r *rand.Rand) *worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := r.IntN(len(w.living) + len(w.calling))
	if i < len(w.calling) {
		return w.calling[i]
	}
	return w.living[i-len(w.calling)]
}

// of returns the partition of a key.
func of(key string) int { return int(key[len(key)-1]) % partitions }

// ask asks for operations until the end.
func (w *world) ask(ctx context.Context, caller int, r *rand.Rand, end time.Time) {
	for n := 0; time.Now().Before(end); n++ {
		time.Sleep(time.Duration(r.Int64N(int64(time.Second))))
		w.asked.Add(1)
		key := fmt.Sprintf("timer %d %d %d", w.rounds, caller, n)
		switch i := r.IntN(45); {
		case i == 0:
			w.together(ctx, key, r)
		case i == 1:
			w.batch(ctx, key, w.any(r), r)
		case i < 15:
			w.timer(ctx, key, w.any(r), r)
		default:
			w.operation(ctx, caller, n, r)
		}
	}
}

// patience is how long the context of a call lasts.
func patience(r *rand.Rand) time.Duration {
	switch r.IntN(8) {
	case 0:
		return time.Duration(r.Int64N(int64(giveUp)))
	case 1:
		return time.Duration(r.Int64N(int64(20 * time.Millisecond)))
	}
	return 2 * giveUp
}

// together sets timers in one partition by one process at once, so that calls share messages, and wait for others.
func (w *world) together(ctx context.Context, key string, r *rand.Rand) {
	p, at := w.any(r), r.IntN(partitions)
	var wg sync.WaitGroup
	for i := range 12 {
		own := rand.New(rand.NewPCG(r.Uint64(), 1))
		wg.Go(func() { w.timer(ctx, fmt.Sprintf("%s %d %d", key, i, at), p, own) })
	}
	wg.Wait()
}

// operation is one on a key that others use, too. Its timer is never due.
func (w *world) operation(ctx context.Context, caller, n int, r *rand.Rand) {
	in := partitiontest.Random(r, caller, n)
	in.Key, in.Value = "key"+in.Key, fmt.Sprint(w.rounds, "-", in.Value)
	p := w.any(r)
	a, limited, cancel := p.asks(ctx, of(in.Key), patience(r))
	defer cancel()
	w.history.Call(caller, in, func() (out partitiontest.Output, noted bool) {
		var err error
		if in.Kind == 0 {
			out.Value, _, out.OK, err = p.api().Get(limited, of(in.Key), []byte(in.Key))
		} else {
			var c *core.Call
			if c, err = call(limited, p.api(), in.Key, operationOf(in)); err == nil {
				out = outputOf(c)
			}
		}
		if a.ended(err); err != nil {
			return partitiontest.Output{Unknown: true}, !notCommitted(err)
		}
		return out, true
	})
}

// timer sets a timer of its own by a process. It may be removed again.
func (w *world) timer(ctx context.Context, key string, p *worker, r *rand.Rand) {
	d := time.Duration(r.Int64N(int64(3 * lease)))
	a, limited, cancel := p.asks(ctx, of(key), patience(r))
	defer cancel()
	a.sets = true
	t := &timer{in: d, begun: a.begun, rate: p.clock.rate, caller: p}
	op := core.Op{Kind: frame.Set, In: d}
	if r.IntN(3) == 0 {
		t.in, op = 0, core.Op{Kind: frame.SetAt, Due: time.Now().Add(d).UnixNano()}
	}
	switch {
	case r.IntN(2) == 0:
		op.If = core.IfAbsent
	case t.in > 0 && r.IntN(2) == 0:
		op.In, op.Quiet, op.Longest = 0, d, 2*d
	}
	c, err := call(limited, p.api(), key, op)
	a.ended(err)
	w.setOnce(a, c, err)
	t.answered, t.refused, t.twice = time.Now(), notCommitted(err), a.mayBeTooLarge()
	if t.unknown = err != nil; !t.unknown {
		t.id = c.First
	}
	if r.IntN(2) == 0 {
		t.remove(ctx, w, key, r)
	}
	w.mu.Lock()
	w.timers[key] = t
	w.mu.Unlock()
}

// setOnce checks the answer of a Set of a key that nobody else sets: it was not there before. Calls of a message that was
// too large for the log are sent again one by one. If the network has doubled that message, and the log takes it when the
// copy arrives, they are committed twice.
func (w *world) setOnce(a asked, c *core.Call, err error) {
	if err != nil || c.Took[0] || a.mayBeTooLarge() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong("doubled: %q is set twice by one call", c.Ops[0].Key)
}

// remove removes a timer, by the process that has set it or another one. If it is the same, and was not told whether the
// timer was set, the timer is not set after the answer.
func (t *timer) remove(ctx context.Context, w *world, key string, r *rand.Rand) {
	p := t.caller
	if r.IntN(2) == 0 {
		p = w.any(r)
	}
	if left := time.Until(t.begun.Add(t.in)); left < 2*time.Second && r.IntN(2) == 0 {
		time.Sleep(left + time.Duration(r.Int64N(int64(4*usualLatency))) - 2*usualLatency) // an attempt is about to begin
	}
	a, limited, cancel := p.asks(ctx, of(key), 2*giveUp)
	defer cancel()
	c, err := call(limited, p.api(), key, core.Op{Kind: frame.Remove, Whole: true})
	a.ended(err)
	took := err == nil && c.Took[0]
	if was, ok := core.Was(strings.Join(c.Values, "")); took && ok && was.Attempt == 0 && !was.Running {
		t.untouched = c.First.Number >> 12 // the number of its frame. No handler here postpones, which sets Attempt to 0 again
		if t.twice {
			t.id = was.ID
		}
	}
	if took || err == nil && t.unknown && p == t.caller {
		t.removed = time.Now()
	}
	t.unknown = t.unknown || err != nil
}

// period is the time between two runs of a schedule.
const period = 2 * time.Second

// repeat sets a timer with a schedule in each partition. Missed runs are made up for one by one, or at once, or are not.
func (w *world) repeat(ctx context.Context, r *rand.Rand) {
	for at := range partitions {
		text := fmt.Sprintf("MISSED=%s @every %v", []string{"all", "once", "all", "skip"}[at], period)
		op := core.Op{Kind: frame.SetAt, If: core.IfAbsent, Schedule: []byte(text)}
		for key := fmt.Sprint("run ", at); ; time.Sleep(time.Second) {
			if _, err := do(ctx, w.any(r).api(), key, op); err == nil {
				break
			}
		}
	}
}

// do has one operation committed, or not.
func do(ctx context.Context, p shared, key string, op core.Op) (took bool, err error) {
	c, err := call(ctx, p, key, op)
	return err == nil && c.Took[0], err
}

// call is do, and returns the call with its answer.
func call(ctx context.Context, p shared, key string, op core.Op) (*core.Call, error) {
	op.Key = []byte(key)
	c := &core.Call{Ops: []core.Op{op}}
	return c, p.Do(ctx, of(key), c)
}

// operationOf returns the operation that a history has. Each second Remove asks for the whole timer, and so does
// whatever else can.
func operationOf(in partitiontest.Input) core.Op {
	a := core.Op{Kind: in.Kind, Value: []byte(in.Value), In: 1000 * time.Hour}
	if in.Absent {
		a.If = core.IfAbsent
	}
	a.Whole = in.Swap || in.Absent || in.Kind == frame.Move || in.Kind == frame.Remove && len(in.Value)%2 == 0
	return a
}

// outputOf returns the answer to a call with that operation.
func outputOf(c *core.Call) (out partitiontest.Output) {
	out.OK, out.Value = c.Took[0], strings.Join(c.Values, "")
	if a := &c.Ops[0]; a.Whole {
		t, ok := core.Was(out.Value)
		if out.Value = t.Value; a.If == core.Always && a.Kind != frame.Move {
			out.OK = ok
		}
	}
	return out
}
