package partition

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal/memory"
)

// askedOf is what a caller of a history has asked for, and got what it was answered with.
type (
	askedOf struct {
		kind       frame.Kind // 0 is Get
		key, value string
	}
	got struct {
		unknown bool // no answer has come, or one that says that nothing is known
		ok      bool
		value   string
	}
)

// register is a key's timer: its value, or nothing.
type register struct {
	there bool
	value string
}

// keyModel is what each key is, by what was asked and answered.
var keyModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		keys := map[string][]porcupine.Operation{}
		for _, o := range history {
			k := o.Input.(askedOf).key
			keys[k] = append(keys[k], o)
		}
		var parts [][]porcupine.Operation
		for _, part := range keys {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return register{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(register), input.(askedOf), output.(got)
		switch in.kind {
		case frame.Set:
			return out.unknown || out.ok, register{true, in.value}
		case frame.Move:
			return out.unknown || out.ok == s.there, s
		case frame.Remove:
			return out.unknown || out.ok == s.there && out.value == s.value, register{}
		}
		return out.ok == s.there && out.value == s.value, s
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// owners is a log whose owner dies, or is replaced, again and again.
type owners struct {
	*bench
	mu      sync.RWMutex // held while there is no owner
	clock   atomic.Int64 // counts beginnings and ends of operations
	lease   *atomic.Bool // of the present owner
	ending  sync.WaitGroup
	noting  sync.Mutex
	history []porcupine.Operation
}

// Operations of several callers on few keys take hold in one order for each key, that agrees with
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
			result, info := porcupine.CheckOperationsVerbose(keyModel, o.history, time.Minute)
			if result == porcupine.Illegal {
				name := filepath.Join(os.TempDir(), fmt.Sprintf("durable-history-%d.html", seed))
				t.Log("drawn in", name, porcupine.VisualizePath(keyModel, info, name))
			}
			require.Equal(t, porcupine.Ok, result)
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
	o.log.SetFault(func([]byte) memory.Fault {
		if faults.IntN(3) > 0 {
			return memory.None
		}
		return memory.Fault(faults.IntN(int(memory.Twice) + 1))
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
		in := askedOf{key: fmt.Sprint(r.IntN(3)), value: fmt.Sprintf("%d-%d", caller, n)}
		in.kind = []frame.Kind{0, frame.Set, frame.Set, frame.Move, frame.Remove}[r.IntN(5)]
		o.mu.RLock()
		p := o.p
		o.mu.RUnlock()
		begun := o.clock.Add(1)
		out, err := in.ask(o.bench, p)
		op := porcupine.Operation{ClientId: caller, Input: in, Call: begun, Output: out, Return: o.clock.Add(1)}
		switch {
		case err == nil:
		case in.kind == 0 || !errors.Is(err, ErrUnavailable):
			continue // it did not take hold
		default:
			op.Output, op.Return = got{unknown: true}, math.MaxInt64
		}
		o.noting.Lock()
		o.history = append(o.history, op)
		o.noting.Unlock()
	}
}

// ask asks an owner.
func (in askedOf) ask(b *bench, p *Partition) (out got, err error) {
	if in.kind == 0 {
		out.value, _, out.ok, err = p.Get([]byte(in.key))
		return out, err
	}
	c := &Call{Asks: []Ask{{Kind: in.kind, Key: []byte(in.key), Value: []byte(in.value), In: time.Hour}}}
	if err = p.Do(b.t.Context(), c); err == nil {
		out.ok, out.value = c.Took[0], c.Value
	}
	return out, err
}
