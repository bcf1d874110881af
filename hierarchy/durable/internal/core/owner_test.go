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
	b.commitCall(c)
	return c.Took[0]
}

// commitCall commits a call, after the events.
func (b *bench) commitCall(c *Call, events ...*Event) {
	c.Begin(&b.Config, b.now, b.now)
	b.commit(func() {
		for _, e := range events {
			b.True(b.Record(e))
		}
		b.NoError(b.Owner.Call(c))
	})
	b.NoError(c.Answer(&b.Head.Header))
}

// A run that stands for another one is moved in the frame of its start. The answer says what the log has: the run goes on
// standing for the other one.
func TestMoveInTheFrameOfAStart(t *testing.T) {
	b := newBench(t)
	b.now = int64(time.Hour)
	key := []byte("k")
	b.True(b.call(Op{Kind: frame.SetAt, Key: key, Schedule: []byte("@every 1s")}))
	b.now += int64(2 * time.Second)
	j := b.Next(b.now, b.now)
	write, ok := b.Begin(&j, false)
	b.True(write && ok)
	e := Begun(j)
	c := &Call{Ops: []Op{{Kind: frame.Move, Key: key, In: time.Hour}, {Kind: frame.Set, Key: key, Whole: true, If: IfAbsent}}}
	b.commitCall(c, &e)
	was, ok := Was(c.Values[0])
	b.True(ok)
	has, _, _ := b.State.Find(key)
	b.Equal(uint32(1), has.Missed)
	b.Equal(has.Extra, was.Extra)
}
