package partition

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition/partitiontest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// owners is a log whose owner dies, or is replaced, again and again.
type owners struct {
	*bench
	mu      sync.RWMutex // held while there is no owner
	lease   *atomic.Bool // of the present owner
	ending  sync.WaitGroup
	history partitiontest.History
}

// Operations of several callers on few keys are committed in one order for each key, that agrees with
// the order of their times, whatever happens to the log and its owner.
func TestLinearizable(t *testing.T) {
	for seed := range uint64(*seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			o := &owners{bench: newBench(t)}
			o.cfg.TrimAbove, o.cfg.MarkEvery = 300, time.Millisecond
			o.cfg.Patience.Answer = time.Millisecond
			o.rise(rand.New(rand.NewPCG(seed, 0)))
			var wg sync.WaitGroup
			for caller := range 6 {
				wg.Go(func() { o.call(caller, rand.New(rand.NewPCG(seed, uint64(caller+1)))) })
			}
			ended := make(chan bool)
			go func() { wg.Wait(); close(ended) }()
			r := rand.New(rand.NewPCG(seed, 100))
			for over := false; !over; {
				select {
				case <-ended:
					over = true
				case <-time.After(time.Duration(r.IntN(3000)) * time.Microsecond):
					o.replace(r)
				}
			}
			o.ending.Wait()
			o.history.Check(t)
		})
	}
}

// rise opens the log with a new owner, which has faults.
func (o *owners) rise(r *rand.Rand) {
	o.lease = new(atomic.Bool)
	o.lease.Store(true)
	o.cfg.Tenure = o.lease.Load
	o.open()
	faults := rand.New(rand.NewPCG(r.Uint64(), 0))
	o.log.SetFault(func([]byte) memlog.Fault {
		if faults.IntN(3) > 0 {
			return memlog.None
		}
		return memlog.Fault(faults.IntN(int(memlog.Stranger) + 1))
	})
}

// replace ends the owner in one of several ways, and has another follow.
func (o *owners) replace(r *rand.Rand) {
	o.mu.Lock()
	defer o.mu.Unlock()
	old, log := o.p, o.log
	switch r.IntN(3) {
	case 0:
		o.crash()
		o.disk.LosePower()
	case 1:
		o.crash()
		o.disk.Arrive()
	case 2: // it lives on, and has not been told but by its lease
		o.lease.Store(false)
		defer func() { o.ending.Go(func() { old.kill(log) }) }()
	}
	o.rise(r)
}

// call asks for operations.
func (o *owners) call(caller int, r *rand.Rand) {
	for n := range 60 {
		in := partitiontest.Random(r, caller, n)
		o.mu.RLock()
		p := o.p
		o.mu.RUnlock()
		o.history.Call(caller, in, func() (partitiontest.Output, bool) {
			out, err := ask(o.bench, p, in)
			out.Unknown = errors.Is(err, ErrUnavailable)
			return out, err == nil || out.Unknown
		})
	}
}

// ask asks an owner.
func ask(b *bench, p *Partition, in partitiontest.Input) (out partitiontest.Output, err error) {
	if in.Kind == 0 {
		out.Value, _, out.OK, err = p.Get([]byte(in.Key))
		return out, err
	}
	c := &core.Call{Ops: []core.Op{requestOf(in)}}
	if err = p.Do(b.t.Context(), c); err == nil {
		out = outputOf(c)
	}
	return out, err
}

// requestOf returns the operation that a history has. Each second Remove asks for the whole timer, and so does whatever
// else can.
func requestOf(in partitiontest.Input) core.Op {
	a := core.Op{Kind: in.Kind, Key: []byte(in.Key), Value: []byte(in.Value), In: time.Hour}
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
