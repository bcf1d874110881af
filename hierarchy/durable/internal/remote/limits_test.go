package remote

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Values that are too many for one message or one frame come in several.
func TestManyLargeValues(t *testing.T) {
	b := newBench(t)
	b.own()
	c := b.client()
	const n = 40
	value := strings.Repeat("v", 64<<10)
	all := func(ask func(k string) core.Op) []*core.Call {
		calls := make([]*core.Call, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { calls[i] = b.do(c, ask(fmt.Sprint(i))) })
		}
		wg.Wait()
		return calls
	}
	all(func(k string) core.Op { return setOp(k, value) })
	for _, call := range all(removeOp) {
		b.True(call.Took[0])
		b.Equal([]string{value}, call.Values)
	}
}

// While the log does not answer, a Server holds some messages, and has others be asked again.
func TestServerIsBounded(t *testing.T) {
	b := newBench(t)
	b.part.GiveUp = time.Hour
	o := b.own()
	hold := make(chan bool)
	o.log.Before = func(uint64) { <-hold }
	inbox := conn.NewInbox()
	answers := make(chan *nats.Msg, 4*maxPending)
	sub, err := conn.ChanSubscribe(inbox, answers)
	b.NoError(err)
	defer sub.Unsubscribe()
	const n = 2 * maxPending
	for i := range n {
		id := core.RequestID{Caller: uint64(i + 1), Serial: 1}
		m := appendPart(startOps(nil, id, 1), []core.Op{setOp(fmt.Sprint(i), "")}, 0)
		b.NoError(conn.PublishRequest(b.cfg.subject(0), inbox, m))
	}
	took := 0
	take := func() {
		_, retry, err := readAnswer((<-answers).Data)
		if b.Equal(retry, err != nil); err == nil {
			took++
			return
		}
		b.EqualError(err, "the owner has too many requests")
	}
	for range n - maxPending - 1 { // one is waited for
		take()
	}
	b.Zero(took)
	close(hold)
	for range maxPending + 1 {
		take()
	}
	b.GreaterOrEqual(took, maxPending)
	count, err := o.Len()
	b.NoError(err)
	b.Equal(took, count)
}

// What can't be read, or is of another version, is answered with an error.
func TestMessagesThatCantBeRead(t *testing.T) {
	b := newBench(t)
	b.own()
	for message, want := range map[string]string{
		"":                                 "the message can't be read",
		"\x01\x01":                         "the message can't be read",
		"\x01\x0a":                         "the message requests something unknown",
		"\x01\x04\x02\x00\x00\x00":         "the message can't be read",
		"\x01\x04\x00\x00\x00\x00and more": "the message can't be read",
	} {
		m, err := conn.Request(b.cfg.subject(0), []byte(message), time.Minute)
		b.NoError(err)
		_, _, err = readAnswer(m.Data)
		b.ErrorIs(err, partition.ErrUnavailable)
		b.ErrorContains(err, want)
	}
}
