package api

import (
	"context"
	"errors"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// chunk is a list of operations that are done together.
type chunk struct {
	api     *API
	ctx     context.Context
	who     *access.Bearer
	results []Result
	batch   durable.Batch[string, task.Task]
	places  []int
	ops     []*Operation
	size    int
	err     error // the worst of operations that were not done together
}

func (c *chunk) add(i int, op *Operation) {
	size := op.size()
	if c.batch.Len() >= someOperations || c.size+size > someBytes {
		c.flush()
	}
	if err := c.addTo(op); err != nil {
		c.results[i].Error = detailOf(err)
		return
	}
	c.places = append(c.places, i)
	c.ops = append(c.ops, op)
	c.size += size
}

// size returns about how many bytes an operation takes.
func (op *Operation) size() int {
	n := operationBytes + len(op.Key) + len(op.Value) + len(op.Schedule) + len(op.From) + len(op.Until)
	if op.To != nil {
		n += len(op.To.Webhook) + len(op.To.Subject) + len(op.To.Queue) + op.To.Hook.size()
	}
	return n
}

// isSet reports whether the operation has what only one has that sets a timer.
func (op *Operation) isSet() bool {
	return op.Schedule != "" || op.Debounce != nil || op.Runs != (Runs{}) || op.To != nil || op.Retry != nil ||
		op.If+op.Timeout != "" || len(op.Value) > 0
}

var errMovedOp = errors.New("op move takes in or at alone: it moves a timer, and leaves what else it has; op set replaces it")

var errOp = errors.New("op must be set, move or remove")

func (c *chunk) addTo(op *Operation) error {
	if err := task.CheckKey(op.Key); err != nil {
		return err
	}
	if !c.who.MayKey(op.Key) {
		return errPrefix
	}
	switch op.Op {
	case "set":
		s, err := c.api.setting(op.Key, &op.Setting, op.If)
		if err != nil {
			return err
		}
		c.set(&s)
	case "move":
		if op.isSet() {
			return errMovedOp
		}
		m := Moving{In: op.In, At: op.At}
		due, err := m.parse()
		if err != nil {
			return err
		}
		c.move(op.Key, &due)
	case "remove":
		c.batch.Remove(op.Key)
	default:
		return errOp
	}
	return nil
}

func (c *chunk) set(s *setting) {
	at := !s.due.at.IsZero()
	switch {
	case s.cond == "absent" && at:
		c.batch.SetAtIfAbsent(s.key, s.task, s.due.at)
	case s.cond == "absent":
		c.batch.SetIfAbsent(s.key, s.task, s.due.in)
	case s.cond == "sooner" && at:
		c.batch.SetAtSooner(s.key, s.task, s.due.at)
	case s.cond == "sooner":
		c.batch.SetSooner(s.key, s.task, s.due.in)
	case s.cond == "later" && at:
		c.batch.SetAtLater(s.key, s.task, s.due.at)
	case s.cond == "later":
		c.batch.SetLater(s.key, s.task, s.due.in)
	case s.due.schedule != "":
		c.batch.SetSchedule(s.key, s.task, s.schedule)
	case at:
		c.batch.SetAt(s.key, s.task, s.due.at)
	case s.due.debounce != nil:
		c.batch.SetDebounced(s.key, s.task, s.due.debounce.quiet, s.due.debounce.longest)
	default:
		c.batch.Set(s.key, s.task, s.due.in)
	}
}

func (c *chunk) move(key string, d *due) {
	if d.at.IsZero() {
		c.batch.Move(key, d.in)
		return
	}
	c.batch.MoveAt(key, d.at)
}

// flush does the operations of the chunk.
func (c *chunk) flush() {
	if c.batch.Len() == 0 {
		return
	}
	for _, op := range c.ops {
		defer c.api.Service.Changing(op.Key)()
	}
	c.err = worse(c.err, c.api.Service.Batch(c.ctx, &c.batch))
	for i, place := range c.places {
		r := &c.results[place]
		switch {
		case c.batch.Took(i):
			r.OK = true
			c.tell(i)
		case c.batch.Err(i) != nil:
			r.Error = detailOf(c.batch.Err(i))
		case c.ops[i].Op == "set":
			r.Error = "the condition is not met"
		default:
			r.Error = errNoTimer.Detail
		}
	}
	c.batch.Reset()
	c.places, c.ops, c.size = c.places[:0], c.ops[:0], 0
}

// tell tells those who follow that an operation was done.
func (c *chunk) tell(i int) {
	if !c.api.Service.Followed() {
		return
	}
	kind := map[string]string{"set": service.EventSet, "move": service.EventMoved, "remove": service.EventRemoved}[c.ops[i].Op]
	e, _ := c.batch.Entry(i)
	c.api.Service.Tell(kind, c.ops[i].Key, e.ID)
}
