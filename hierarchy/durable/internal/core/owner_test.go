package core

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// bench drives an Owner as package partition does, without a log and without a clock.
type bench struct {
	*Owner
	*require.Assertions
	now int64
}

func newBench(t *testing.T) *bench {
	o := New(Config{MaxAttempts: 2, Backoff: func(int) time.Duration { return time.Minute }})
	o.State.Build()
	return &bench{o, require.New(t), 0}
}

// commit makes a frame of what fill adds, and applies it.
func (b *bench) commit(fill func()) {
	b.Start(b.now, b.now, Limits{Message: math.MaxInt})
	fill()
	data, _ := b.Finish()
	f, err := frame.Parse(data)
	b.NoError(err)
	b.NoError(b.Apply(&f))
}

// call commits a call with one operation.
func (b *bench) call(a Op) (took bool) {
	c := &Call{Ops: []Op{a}}
	c.Begin(&b.Config, b.now, b.now)
	b.commit(func() { b.NoError(b.Owner.Call(c)) })
	b.NoError(c.Answer(&b.Head.Header))
	return c.Took[0]
}

// begin begins the attempt that is due.
func (b *bench) begin() *Attempt {
	at, ok := b.Nearest(b.now, b.now, math.MaxInt64)
	b.True(ok)
	b.now = max(b.now, at)
	a := &Attempt{Job: b.Next(b.now, b.now), Name: 7}
	write, ok := b.Begin(&a.Job, false)
	b.True(ok)
	b.False(write)
	b.Started(a)
	return a
}

// end commits the result of an attempt, and reports whether it is in the frame.
func (b *bench) end(a *Attempt, err error) (took bool) {
	b.True(b.Returned(a))
	b.Stop(a)
	e := a.Result(&b.Config, err)
	b.commit(func() { took = b.Record(&e) })
	b.Remove(a)
	return took
}

// A timer that fails is tried again after Backoff, and is dead after its last attempt.
func TestTimerFromSetToDeath(t *testing.T) {
	b := newBench(t)
	b.True(b.call(Op{Kind: frame.Set, Key: []byte("k"), In: time.Hour}))
	for i := range 2 {
		a := b.begin()
		b.Equal(int64(time.Hour)+int64(i)*int64(time.Minute), b.now)
		b.True(b.end(a, ErrArgument))
	}
	b.Equal(1, b.State.Dead())
	b.Zero(b.State.Len())
	b.Zero(b.Numbers())
	_, ok := b.Nearest(b.now, b.now, math.MaxInt64)
	b.False(ok)
}

// A Remove ends the context of an attempt, and its result is not in the log.
func TestRemoveEndsAnAttempt(t *testing.T) {
	b := newBench(t)
	b.True(b.call(Op{Kind: frame.Set, Key: []byte("k"), In: time.Hour}))
	a := b.begin()
	b.True(b.call(Op{Kind: frame.Remove, Key: []byte("k")}))
	b.Equal([]*Attempt{a}, b.Gone)
	b.False(b.end(a, nil))
	b.Zero(b.Numbers())
}

// What removes a timer returns how many attempts of it have begun. One whose handler was not called does not count, also
// if the log has its begin, as after an unclean end of the last owner: the handler is not called any more.
func TestAttemptThatWasNotCalledDoesNotCount(t *testing.T) {
	for name, called := range map[string]bool{"called": true, "not called": false} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.True(b.call(Op{Kind: frame.Set, Key: []byte("k"), In: time.Hour}))
			b.now = int64(2 * time.Hour)
			b.Review(b.now, b.now)
			a := &Attempt{Job: b.Next(b.now, b.now), Name: 7}
			write, ok := b.Begin(&a.Job, false)
			b.True(write && ok)
			e := Begun(a.Job)
			b.commit(func() { b.True(b.Record(&e)) })
			b.True(b.Written(&a.Job))
			b.Started(a)
			a.Called = called
			c := &Call{Ops: []Op{{Kind: frame.Remove, Key: []byte("k"), Whole: true}}}
			c.Begin(&b.Config, b.now, b.now)
			b.commit(func() { b.NoError(b.Owner.Call(c)) })
			b.NoError(c.Answer(&b.Head.Header))
			was, ok := Was(c.Values[0])
			b.True(ok)
			b.Equal([]any{map[bool]uint32{true: 1}[called], called}, []any{was.Attempt, was.Running})
		})
	}
}
