package remote

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// proxy keeps the first question with operations, and passes the others on.
func (b *bench) proxy() (far Config, kept chan *nats.Msg) {
	far = b.cfg
	far.Name += "kept"
	kept = make(chan *nats.Msg, 1)
	var once sync.Once
	sub, err := conn.Subscribe(far.subject(0), func(m *nats.Msg) {
		m.Subject = b.cfg.subject(0)
		if k, _, _ := readKind(m.Data); k == opsKind {
			first := false
			if once.Do(func() { first = true }); first {
				kept <- m
				return
			}
		}
		_ = conn.PublishMsg(m)
	})
	b.NoError(err)
	b.t.Cleanup(func() { _ = sub.Unsubscribe() })
	return far, kept
}

// arrive sends a message that was on its way for long, and waits until the owner has answered it.
func (b *bench) arrive(m *nats.Msg) status {
	answer, err := conn.Request(b.cfg.subject(0), m.Data, time.Minute)
	b.NoError(err)
	return status(answer.Data[1])
}

// A copy that comes when its caller was forgotten is not committed. The caller can ask again.
func TestCopyAfterItsCallerWasForgotten(t *testing.T) {
	for name, handOver := range map[string]bool{"one owner": false, "another owner": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.part.Remember, b.part.TrimAbove = 20*time.Millisecond, 300
			o := b.own()
			far, kept := b.proxy()
			c, err := New(far)
			b.NoError(err)
			defer c.Close()
			c.quiet = 5 * time.Millisecond
			b.do(c, setOp("a", "1")) // by the second copy
			m := <-kept
			other := b.client()
			other.quiet = time.Hour // no copies: callers are forgotten soon
			b.Eventually(func() bool {
				b.do(other, setOp("x", ""))
				return !o.Remembers(c.caller)
			}, time.Minute, time.Millisecond)
			if handOver {
				b.do(other, setOp("x", ""))
				o.dead.Store(true)
				o.shut()
				b.own()
			}
			b.do(other, removeOp("a"))
			if got := b.arrive(m); !handOver { // who reads the log may find the answer there still
				b.Equal(old, got)
			}
			b.Equal("-", b.get(other, "a"))
			c.quiet = time.Hour // else it may take a slow answer for none, and the call may have been committed
			b.do(c, setOp("a", "2"))
			b.Equal("2", b.get(other, "a"))
			b.NotEqual(done, b.arrive(m))
			b.Equal("2", b.get(other, "a"))
		})
	}
}

// An answer that nobody waits for may be old, and says nothing of what the owner knows now.
func TestAnswerThatNobodyWaitsFor(t *testing.T) {
	b := newBench(t)
	b.own()
	l := b.client().lanes[0]
	l.answered(1, startAnswer(nil, done))
	b.Zero(l.known)
}

// While a message is in flight, the numbers go on from its own: the owner may have forgotten that it was committed, and
// says so only of a message with an old number.
func TestGreetingWhileAMessageIsInFlight(t *testing.T) {
	b := newBench(t)
	b.own()
	l := b.client().lanes[0]
	for _, l.flying = range [][]*message{{{}}, nil} {
		b.NoError(l.greet(t.Context(), false, time.Now().Add(time.Minute)))
		b.Equal(l.flying != nil, l.serial == 0)
	}
}

// A call that has waited for its minute at another place does not wait for one more to know the owner's time.
func TestGreetingIsInTheMinuteOfItsCall(t *testing.T) {
	b := newBench(t)
	c := b.client()
	ctx, cancel := context.WithTimeout(t.Context(), c.cfg.GiveUp/12)
	defer cancel()
	begun := c.Now()
	begun.real = begun.real.Add(-c.cfg.GiveUp)
	b.ErrorIs(c.Do(ctx, 0, &core.Call{Ops: []core.Op{setOp("a", "1")}}, begun), partition.ErrUnavailable)
}

// An answer that ends before its time of the log is none: a client that counted from 0 then would be refused for ever.
func TestTimeThatIsCutOff(t *testing.T) {
	b := newBench(t)
	moment := appendMoment(nil, partition.Moment{Epoch: 1, Time: time.Now().UnixNano()})
	for n := range len(moment) + 1 {
		answer := append(startAnswer(nil, done), moment[:n]...)
		sub, err := conn.Subscribe(b.cfg.subject(0), func(m *nats.Msg) { _ = m.Respond(answer) })
		b.NoError(err)
		c := b.client()
		b.ErrorIs(c.lanes[0].greet(t.Context(), true, time.Now().Add(time.Minute)), partition.ErrUnavailable, n)
		b.Zero(c.lanes[0].known, n)
		b.NoError(sub.Unsubscribe())
	}
	_, _, err := readAnswer(startAnswer(nil, passed))
	b.ErrorIs(err, errMessage)
}
