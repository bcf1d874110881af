package remote

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition/partitiontest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

var seeds = flag.Int("seeds", 4, "how many random histories the tests go through")

// Operations of callers in two processes on few keys are committed once, in one order for each key that
// agrees with the order of their times, whatever happens to messages, answers, the log, and its
// owners.
func TestLinearizable(t *testing.T) {
	for seed := range uint64(*seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			h := &history{bench: newBench(t)}
			h.part.TrimAbove, h.part.MarkEvery = 300, time.Millisecond
			h.part.Patience.Answer = time.Millisecond
			far, net := h.between()
			net.setFate(fates(rand.New(rand.NewPCG(seed, 1))))
			owners := rand.New(rand.NewPCG(seed, 0))
			h.rise(owners)
			var wg sync.WaitGroup
			for process := range 2 {
				c, err := New(far)
				h.NoError(err)
				defer c.Close()
				c.quiet = 50 * time.Millisecond
				for n := range 4 {
					caller := 4*process + n
					wg.Go(func() { h.call(c, caller, rand.New(rand.NewPCG(seed, uint64(caller+2)))) })
				}
			}
			ended := make(chan bool)
			go func() { wg.Wait(); close(ended) }()
			for over := false; !over; {
				select {
				case <-ended:
					over = true
				case <-time.After(time.Duration(owners.IntN(20_000)) * time.Microsecond):
					h.replace(owners)
				}
			}
			h.Check(t)
			n, of := h.Answered()
			h.Greater(n, of/2)
		})
	}
}

// fates loses, doubles and delays some messages and answers.
func fates(r *rand.Rand) func(bool) time.Duration {
	var mu sync.Mutex
	return func(bool) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		switch r.IntN(30) {
		case 0:
			return lost
		case 1, 2, 3, 4, 5:
			return twice
		case 6, 7, 8, 9, 10:
			return time.Duration(r.IntN(20_000)) * time.Microsecond
		}
		return 0
	}
}

// history is a log whose owner dies, or is replaced, again and again.
type history struct {
	*bench
	partitiontest.History
	owner *owner
}

// rise has another process own the log, which has faults.
func (h *history) rise(r *rand.Rand) {
	h.owner = h.own()
	faults := rand.New(rand.NewPCG(r.Uint64(), 0))
	h.owner.log.SetFault(func([]byte) memlog.Fault {
		if faults.IntN(10) > 0 {
			return memlog.None
		}
		return memlog.Fault(faults.IntN(int(memlog.Twice) + 1))
	})
}

// replace ends the owner in one of several ways, and has another follow.
func (h *history) replace(r *rand.Rand) {
	old := h.owner
	switch r.IntN(4) {
	case 0:
		h.die(old)
		h.disk.LosePower()
	case 1:
		h.die(old)
		h.disk.Arrive()
	case 2:
		old.log.SetFault(nil)
		old.shut()
	case 3: // it lives on, answers, and has not been told but by its lease
		old.lease.Store(false)
		old.dead.Store(true)
		pause := time.Duration(r.IntN(30)) * time.Millisecond
		h.ending.Go(func() { time.Sleep(pause); h.die(old) })
	}
	h.rise(r)
}

// call asks for operations, some of which do not wait for long.
func (h *history) call(c *Client, caller int, r *rand.Rand) {
	for n := range 50 {
		in := partitiontest.Random(r, caller, n)
		ctx, cancel := h.t.Context(), func() {}
		if r.IntN(10) == 0 {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(3000))*time.Microsecond)
		}
		h.Call(caller, in, func() (partitiontest.Output, bool) {
			out, err := requestFor(ctx, c, in)
			out.Unknown = errors.Is(err, partition.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
			if err != nil && !out.Unknown {
				h.t.Errorf("%+v: %v", in, err)
			}
			return out, true
		})
		cancel()
	}
}

func requestFor(ctx context.Context, c *Client, in partitiontest.Input) (out partitiontest.Output, err error) {
	if in.Kind == 0 {
		out.Value, _, out.OK, err = c.Get(ctx, 0, []byte(in.Key))
		return out, err
	}
	call := &core.Call{Ops: []core.Op{requestOf(in)}}
	if err = c.Do(ctx, 0, call, c.Now()); err == nil {
		out = outputOf(call)
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
