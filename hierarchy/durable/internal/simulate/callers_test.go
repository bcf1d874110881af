package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition/partitiontest"
)

func (w *world) anyWorker(r *rand.Rand) *worker {
	w.mu.Lock()
	defer w.mu.Unlock()
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
		if r.IntN(3) == 0 {
			w.timer(ctx, fmt.Sprintf("timer %d %d %d", w.rounds, caller, n), r)
			continue
		}
		w.operation(ctx, caller, n, r)
	}
}

// operation is one on a key that others use, too. Its timer is never due.
func (w *world) operation(ctx context.Context, caller, n int, r *rand.Rand) {
	in := partitiontest.Random(r, caller, n)
	in.Key, in.Value = "key"+in.Key, fmt.Sprint(w.rounds, "-", in.Value)
	p := w.any(r).api()
	limited, cancel := context.WithTimeout(ctx, 2*giveUp)
	defer cancel()
	begun := time.Now()
	w.history.Call(caller, in, func() (out partitiontest.Output, noted bool) {
		var err error
		if in.Kind == 0 {
			out.Value, _, out.OK, err = p.Get(limited, of(in.Key), []byte(in.Key))
		} else {
			var c *core.Call
			if c, err = call(limited, p, in.Key, operationOf(in)); err == nil {
				out = outputOf(c)
			}
		}
		if w.judgeCall(begun, err); err != nil {
			return partitiontest.Output{Unknown: true}, true
		}
		return out, true
	})
}

// timer sets a timer of its own, which may be removed again.
func (w *world) timer(ctx context.Context, key string, r *rand.Rand) {
	d := time.Duration(r.Int64N(int64(3 * lease)))
	limited, cancel := context.WithTimeout(ctx, 2*giveUp)
	defer cancel()
	p := w.any(r)
	t := &timer{in: d, begun: time.Now(), rate: p.clock.rate}
	op := core.Op{Kind: frame.Set, In: d}
	if r.IntN(3) == 0 {
		t.in, op = 0, core.Op{Kind: frame.SetAt, Due: time.Now().Add(d).UnixNano()}
	}
	c, err := call(limited, p.api(), key, op)
	w.judgeCall(t.begun, err)
	t.answered = time.Now()
	if t.unknown = err != nil; !t.unknown {
		t.id = c.First
	}
	if r.IntN(2) == 0 {
		took, err := do(limited, w.any(r).api(), key, core.Op{Kind: frame.Remove})
		t.unknown = t.unknown || err != nil
		if took {
			t.removed = time.Now()
		}
	}
	w.mu.Lock()
	w.timers[key] = t
	w.mu.Unlock()
}

// period is the time between two runs of a schedule.
const period = 2 * time.Second

// repeat sets a timer with a schedule in each partition. Missed runs are made up for one by one, or at once.
func (w *world) repeat(ctx context.Context, r *rand.Rand) {
	for at := range partitions {
		text := fmt.Sprintf("MISSED=%s @every %v", []string{"all", "once"}[at%2], period)
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
