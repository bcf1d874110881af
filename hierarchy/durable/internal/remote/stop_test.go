package remote

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// What has come to an owner that stops is answered, so that nobody waits before asking the next one.
func TestStopAnswersReceivedMessages(t *testing.T) {
	b := newBench(t)
	o := b.own()
	inbox := conn.NewInbox()
	answers, err := conn.SubscribeSync(inbox)
	b.NoError(err)
	o.Server.mu.Lock()
	const n = 3
	for range n {
		b.NoError(conn.PublishMsg(&nats.Msg{Subject: o.cfg.subject(0), Reply: inbox, Data: startMessage(nil, lenKind)}))
	}
	sub := o.sub.(interface {
		Delivered() (int64, error)
		Pending() (msgs, bytes int, err error)
	})
	b.Eventually(func() bool { d, err := sub.Delivered(); return err == nil && d == 1 }, time.Minute, time.Millisecond)
	b.Eventually(func() bool { left, _, err := sub.Pending(); return err == nil && left >= n-1 }, time.Minute, time.Millisecond)
	stopped := make(chan bool)
	go func() {
		o.Partition.Close()
		o.Stop()
		close(stopped)
	}()
	time.Sleep(20 * time.Millisecond)
	o.Server.mu.Unlock()
	<-stopped
	for range n {
		m, err := answers.NextMsg(time.Minute)
		b.NoError(err)
		_, retry, err := readAnswer(m.Data)
		b.True(retry)
		b.ErrorIs(err, errNotMine)
	}
}
