package remote

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// What has come to an owner that stops is answered, so that nobody waits before asking the next one.
func TestStopAnswersWhatHasCome(t *testing.T) {
	b := newBench(t)
	o := b.own()
	inbox := b.cfg.Conn.NewInbox()
	answers, err := b.cfg.Conn.SubscribeSync(inbox)
	b.NoError(err)
	o.Server.mu.Lock()
	const n = 3
	for range n {
		b.NoError(b.cfg.Conn.PublishMsg(&nats.Msg{Subject: o.cfg.subject(0), Reply: inbox, Data: startMessage(nil, lenKind)}))
	}
	b.Eventually(func() bool { d, err := o.sub.Delivered(); return err == nil && d == 1 }, time.Minute, time.Millisecond)
	b.Eventually(func() bool { left, _, err := o.sub.Pending(); return err == nil && left >= n-1 }, time.Minute, time.Millisecond)
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
		m, err := answers.NextMsg(10 * time.Second)
		b.NoError(err)
		_, retry, err := readAnswer(m.Data)
		b.True(retry)
		b.ErrorIs(err, errNotMine)
	}
}
