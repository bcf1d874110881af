package remote

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

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
	_, _, err := readAnswer(startAnswer(nil, old))
	b.ErrorIs(err, errMessage)
}

// Numbers rise with the time of the log only after an owner has said that it had forgotten this process. What is in flight
// then may have been committed and forgotten, so it is not sent again, even if it was passed, unless all answers are sure.
func TestNumberAfterARefusal(t *testing.T) {
	b := newBench(t)
	l := b.client().lanes[0]
	m, other := &message{}, &message{passing: true}
	l.flying, l.serial = []*message{other}, 7
	b.True(l.recount(other, core.ErrPassed))
	b.EqualValues(7, l.serial)
	b.True(l.recount(m, &oldNumber{from: 9}))
	b.EqualValues(9, l.serial)
	b.True(l.recount(m, core.ErrPassed))
	b.False(l.recount(other, core.ErrPassed))
	b.False(l.recount(other, &oldNumber{from: 9}))
	b.False(l.recount(m, core.ErrTooLarge))
}
