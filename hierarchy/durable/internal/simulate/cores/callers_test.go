package cores

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// caller is a process that requests operations of the owner, and sends copies of its requests.
type caller struct {
	*world
	id     uint64
	serial uint64
	flying []*request // sorted by serial
	old    []*request // those that were answered or given up, of which copies may still arrive
}

// request is a list of operations that is committed once at most.
type request struct {
	core.RequestID
	ops    []core.Op
	parts  []core.Part
	answer string // the first answer, or ""
}

// call is a copy of a request, or operations without an identity, at an owner.
type call struct {
	*core.Call
	of       *request // or nil
	caller   *caller
	expected string // the answer by the model
	known    bool   // whether the model has decided
	err      error  // what the owner has decided
	begun    int64  // the owner's time, and
	wall     int64  // the wall time at which it has come
}

func newCaller(w *world, id uint64) *caller {
	return &caller{world: w, id: id, serial: uint64(begin)}
}

// request sends a new request, or operations without an identity.
func (c *caller) request(o *worker, r *rand.Rand) {
	if o.ending {
		return
	}
	if r.IntN(3) == 0 {
		c.send(o, nil, someOps(o, r))
		return
	}
	q := &request{}
	q.ops, q.parts = someParts(o, r)
	c.number(q)
	c.send(o, q, q.ops)
}

// number gives a request its number. Numbers count from the time of a frame on.
func (c *caller) number(q *request) {
	c.serial = max(c.serial+1, uint64(c.model.time))
	q.RequestID = core.RequestID{Caller: c.id, Serial: c.serial, Floor: c.serial}
	if len(c.flying) > 0 {
		q.Floor = c.flying[0].Serial
	}
	c.flying = append(c.flying, q)
}

// copy sends a copy of a request, or gives one up.
func (c *caller) copy(o *worker, r *rand.Rand) {
	if all := slices.Concat(c.flying, c.old); len(all) > 0 && !o.ending {
		if q := all[r.IntN(len(all))]; r.IntN(6) == 0 {
			c.giveUp(q)
		} else {
			c.send(o, q, q.ops)
		}
	}
}

func (c *caller) giveUp(q *request) {
	if i := slices.Index(c.flying, q); i >= 0 {
		c.flying = slices.Delete(c.flying, i, i+1)
		c.old = append(c.old, q)
	}
	if len(c.old) > 5 {
		c.old = c.old[1:]
	}
}

func (c *caller) send(o *worker, q *request, ops []core.Op) {
	k := &call{Call: &core.Call{Ops: slices.Clone(ops)}, of: q, caller: c}
	if q != nil {
		k.Request, k.Parts = q.RequestID, slices.Clone(q.parts)
	}
	k.begun, k.wall = o.time(), o.wall()
	k.Begin(&coreConfig, k.begun, k.wall)
	if q == nil && c.checkSize(k) != nil {
		return
	}
	o.queue = append(o.queue, item{call: k})
	c.asked += len(ops)
	c.Add("%v is asked for %v", o, k)
}

// keys is the number of keys, few enough that many have the most timers that may be pending.
func (w *world) keys() int { return w.config().MaxPending * 4 / 3 }

// someOps returns some operations.
func someOps(o *worker, r *rand.Rand) (ops []core.Op) {
	if n := len(o.tokens); n > 0 && r.IntN(8) == 0 {
		t := o.tokens[max(r.IntN(n), n-1-r.IntN(5))]
		return append(ops, core.Op{Kind: frame.End, Key: []byte(t.key), Ending: core.End(t.of, t.someNumber(r), someResult(r))})
	}
	for range 1 + r.IntN(3)/2 {
		op := core.Op{Kind: []frame.Kind{frame.Set, frame.Set, frame.SetAt, frame.Move, frame.MoveAt, frame.Remove,
			frame.Revive}[r.IntN(7)], Key: fmt.Append(nil, "k", r.IntN(o.keys())), Whole: r.IntN(3) == 0}
		d := time.Duration(r.Int64N(int64(20 * time.Second)))
		if o.log.most > 0 && r.IntN(4) > 0 {
			d *= 200 // much of the log stays live
		}
		switch op.Kind {
		case frame.Revive:
			op.Key = o.model.someDead(op.Key, r)
		case frame.Set, frame.SetAt:
			op.Value, op.Trace = o.someValue(r), someTrace(r)
			op.If = core.Condition(r.IntN(2 * int(core.Conditions)))
			if op.If >= core.Conditions {
				op.If = core.Always
			}
			if op.Kind == frame.SetAt && r.IntN(3) > 0 {
				op.Schedule, op.Key = o.someSchedule(r), someScheduled(r)
			}
		}
		somePause(&op, r)
		o.own(&op, r)
		op.In, op.Due = d, o.now+int64(d)
		if op.Kind == frame.Set && op.If == core.Always && r.IntN(3) == 0 {
			op.In, op.Quiet, op.Longest = -d/20, d/2, d+1
		}
		ops = resumed(append(ops, op), r)
	}
	return ops
}

// answered is called with the answer of an owner. Copies of a request have one answer.
func (k *call) answered(err error) {
	got := k.text(err)
	w := k.caller.world
	w.Add("answer: %s", got)
	if k.known && got != k.expected {
		w.fail("answer: %s instead of %s to %v", got, k.expected, k)
	}
	q := k.of
	if q == nil || errors.Is(err, core.ErrForgotten) || errors.Is(err, core.ErrPassed) ||
		errors.Is(err, core.ErrOld) || errors.Is(err, core.ErrTooLarge) {
		return
	}
	if got += k.made(); q.answer != "" && q.answer != got {
		w.fail("copies: %s and then %s to %v", q.answer, got, k)
	}
	q.answer = got
	k.caller.giveUp(q)
}

// text returns an answer.
func (k *call) text(err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(k.partTexts())
}

// made returns which timers an answer says that it has made, and when they are due.
func (k *call) made() string {
	var dues []int64
	for i, took := range k.Took {
		if took && k.Ops[i].Kind.Renews() {
			dues = append(dues, k.Ops[i].Due)
		}
	}
	return fmt.Sprint(k.First, dues)
}
