// Package bustest has the tests that each implementation of storage.Bus passes.
package bustest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// patience limits how long a test waits for a message.
const patience = time.Minute

// Run tests the buses that connect returns, each for a process of its own. settle returns once the subscriptions that a
// bus has begun and ended are known to all.
func Run(t *testing.T, connect func(t *testing.T) storage.Bus, settle func(storage.Bus)) {
	for name, test := range map[string]func(*contract){
		"Order": (*contract).order, "OneAtATime": (*contract).oneAtATime, "All": (*contract).all, "Words": (*contract).words,
		"Reply": (*contract).reply, "Nobody": (*contract).nobody, "Inboxes": (*contract).inboxes,
		"Stop": (*contract).stop, "Drain": (*contract).drain, "Reused": (*contract).reused, "Online": (*contract).online,
	} {
		t.Run(name, func(t *testing.T) {
			open := func() storage.Bus { return connect(t) }
			test(&contract{require.New(t), t, open, settle, fmt.Sprintf("bustest.%s.%d", name, time.Now().UnixNano())})
		})
	}
}

type contract struct {
	*require.Assertions
	t       *testing.T
	connect func() storage.Bus
	settle  func(storage.Bus)
	subject string // that no other test uses
}

// subscribe returns a channel with the messages of a subject.
func (c *contract) subscribe(b storage.Bus, subject string) (<-chan storage.Message, storage.Subscription) {
	got := make(chan storage.Message, 1000)
	s, err := b.Subscribe(subject, func(m storage.Message) { got <- m })
	c.NoError(err)
	c.settle(b)
	return got, s
}

func (c *contract) receive(from <-chan storage.Message) storage.Message {
	select {
	case m := <-from:
		return m
	case <-time.After(patience):
		c.FailNow("no message")
		return storage.Message{}
	}
}

func (c *contract) publish(b storage.Bus, subject, reply, data string) {
	c.NoError(b.Publish(subject, reply, []byte(data)))
}

// last checks that nothing has come before a message that is published now.
func (c *contract) last(b storage.Bus, subject string, got <-chan storage.Message) {
	c.publish(b, subject, "", "the last one")
	c.Equal("the last one", string(c.receive(got).Data))
}

// Messages of one process to one subscription come in order.
func (c *contract) order() {
	a, b := c.connect(), c.connect()
	got, _ := c.subscribe(b, c.subject)
	for i := range 500 {
		c.publish(a, c.subject, "", fmt.Sprint(i))
	}
	for i := range 500 {
		c.Equal(fmt.Sprint(i), string(c.receive(got).Data))
	}
}

// The function of a subscription is never called twice at the same time.
func (c *contract) oneAtATime() {
	a := c.connect()
	inside, ended := make(chan bool, 1), make(chan bool)
	n := 0
	_, err := a.Subscribe(c.subject, func(storage.Message) {
		select {
		case inside <- true:
		default:
			c.t.Error("called twice at the same time")
		}
		time.Sleep(time.Millisecond)
		<-inside
		if n++; n == 20 {
			close(ended)
		}
	})
	c.NoError(err)
	c.settle(a)
	for range 20 {
		c.publish(a, c.subject, "", "")
	}
	<-ended
}

// All subscriptions of a subject get its messages, those of the sender, too.
func (c *contract) all() {
	a, b := c.connect(), c.connect()
	first, _ := c.subscribe(a, c.subject)
	second, _ := c.subscribe(b, c.subject)
	third, _ := c.subscribe(b, c.subject)
	other, _ := c.subscribe(b, c.subject+"x")
	c.publish(a, c.subject, "", "data")
	for _, got := range []<-chan storage.Message{first, second, third} {
		c.Equal(storage.Message{Subject: c.subject, Data: []byte("data")}, c.receive(got))
	}
	c.last(a, c.subject+"x", other)
}

// A last word * stands for one word.
func (c *contract) words() {
	a := c.connect()
	got, _ := c.subscribe(a, c.subject+".*")
	c.publish(a, c.subject, "", "")
	c.publish(a, c.subject+".one", "", "")
	c.publish(a, c.subject+".one.two", "", "")
	c.publish(a, c.subject+".two", "", "")
	c.Equal(c.subject+".one", c.receive(got).Subject)
	c.Equal(c.subject+".two", c.receive(got).Subject)
}

// A request has a reply, to which the response goes.
func (c *contract) reply() {
	a, b := c.connect(), c.connect()
	_, err := b.Subscribe(c.subject, func(m storage.Message) { _ = b.Publish(m.Reply, "", append(m.Data, '!')) })
	c.NoError(err)
	c.settle(b)
	inbox := a.NewInbox()
	got, _ := c.subscribe(a, inbox)
	c.publish(a, c.subject, inbox, "data")
	c.Equal(storage.Message{Subject: inbox, Data: []byte("data!")}, c.receive(got))
}

// Whoever asks where nobody subscribes is told that. Without a reply, the message is lost.
func (c *contract) nobody() {
	a := c.connect()
	inbox := a.NewInbox()
	got, _ := c.subscribe(a, inbox)
	c.publish(a, c.subject, "", "data")
	c.publish(a, c.subject, inbox, "data")
	m := c.receive(got)
	c.True(m.Nobody)
	c.Equal(inbox, m.Subject)
	c.last(a, inbox, got)
}

// Inboxes are different, also those of other processes.
func (c *contract) inboxes() {
	a, b := c.connect(), c.connect()
	seen := make(map[string]bool)
	for range 100 {
		seen[a.NewInbox()], seen[b.NewInbox()] = true, true
	}
	c.Len(seen, 200)
}

// After Stop, nothing more comes.
func (c *contract) stop() {
	a := c.connect()
	got, s := c.subscribe(a, c.subject)
	c.publish(a, c.subject, "", "before")
	c.Equal("before", string(c.receive(got).Data))
	s.Stop()
	c.settle(a)
	c.publish(a, c.subject, "", "after")
	again, _ := c.subscribe(a, c.subject)
	c.last(a, c.subject, again)
	c.Empty(got)
}

// Drain passes on what has arrived.
func (c *contract) drain() {
	a := c.connect()
	hold, got := make(chan bool), make(chan string, 10)
	s, err := a.Subscribe(c.subject, func(m storage.Message) { <-hold; got <- string(m.Data) })
	c.NoError(err)
	c.settle(a)
	for _, data := range []string{"1", "2", "3"} {
		c.publish(a, c.subject, "", data)
	}
	c.settle(a)
	s.Drain()
	close(hold)
	for _, data := range []string{"1", "2", "3"} {
		c.Equal(data, <-got)
	}
}

// The caller may reuse its data.
func (c *contract) reused() {
	a := c.connect()
	got, _ := c.subscribe(a, c.subject)
	data := []byte("data")
	c.NoError(a.Publish(c.subject, "", data))
	clear(data)
	c.Equal("data", string(c.receive(got).Data))
}

// A bus that was opened is online, and watching it ends.
func (c *contract) online() {
	a := c.connect()
	c.NoError(a.Offline())
	c.NoError(a.Closed())
	c.Positive(a.MaxMessage())
	end, called, ended := make(chan struct{}), make(chan bool, 100), make(chan bool)
	go func() {
		a.Watch(end, func() { called <- true })
		close(ended)
	}()
	<-called
	close(end)
	<-ended
}
