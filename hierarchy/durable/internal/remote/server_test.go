package remote

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// An old owner that still answers, that it is none, does not keep the new one's answers from being
// taken.
func TestTwoServers(t *testing.T) {
	b := newBench(t)
	old := b.own()
	c := b.client()
	c.count()
	b.do(c, setOp("a", "0"))
	old.lease.Store(false)
	b.own()
	for i := range 50 {
		b.do(c, setOp("a", fmt.Sprint(i)))
		b.Equal(fmt.Sprint(i), b.get(c, "a"))
	}
	old.shut()
	old.dead.Store(true)
}

// Lost messages and lost answers are requested again, and are committed once.
func TestLostMessages(t *testing.T) {
	for name, lose := range map[string]bool{"questions": false, "answers": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.cfg.GiveUp = 10 * time.Second
			b.own()
			c, net := b.far()
			c.quiet = 10 * time.Millisecond
			b.do(c, setOp("a", "1"))
			var mu sync.Mutex
			losses := 0
			net.setFate(func(answer bool) time.Duration {
				mu.Lock()
				defer mu.Unlock()
				if answer == lose && losses < 3 {
					losses++
					return lost
				}
				return 0
			})
			call := b.do(c, removeOp("a"))
			b.True(call.Took[0])
			b.Equal([]string{"1"}, call.Values)
			lostSince := func() (n int) {
				mu.Lock()
				defer mu.Unlock()
				n, losses = losses, 0
				return n
			}
			b.Equal(3, lostSince())
			b.Equal("-", b.get(c, "a"))
			b.Equal(3, lostSince())
		})
	}
}

// An answer that was lost with its owner comes from the next one.
func TestAnswerOfTheNextOwner(t *testing.T) {
	b := newBench(t)
	o := b.own()
	c, net := b.far()
	c.quiet = 10 * time.Millisecond
	b.do(c, setOp("a", "1"))
	first := make(chan bool, 1)
	net.setFate(func(answer bool) time.Duration {
		if answer {
			select {
			case first <- true:
			default:
			}
			return lost
		}
		return 0
	})
	call, errs := &core.Call{Ops: []core.Op{removeOp("a")}}, make(chan error)
	go func() { errs <- c.Do(t.Context(), 0, call, c.Now()) }()
	<-first
	b.die(o)
	b.own()
	net.setFate(func(bool) time.Duration { return 0 })
	b.NoError(<-errs)
	b.True(call.Took[0])
	b.Equal([]string{"1"}, call.Values)
}

// A duration counts from the call, however long it waits for its message, and that for an owner.
func TestDurationsCountFromTheCall(t *testing.T) {
	b := newBench(t)
	c := b.client()
	c.count()
	const n = maxFlying + 1
	errs := make(chan error, n)
	for i := range n {
		go func() { _, err := c.try(t.Context(), setOp(fmt.Sprint(i), "")); errs <- err }()
		b.Eventually(func() bool { return c.lanes[0].all() == i+1 }, time.Minute, time.Millisecond)
	}
	begun := time.Now()
	time.Sleep(20 * time.Millisecond)
	waited := time.Since(begun)
	b.own()
	for range n {
		b.NoError(<-errs)
	}
	for i := range n {
		_, left, _, err := c.Get(t.Context(), 0, fmt.Append(nil, i))
		b.NoError(err)
		b.LessOrEqual(left, time.Hour-waited)
	}
}

// all is how many calls wait for an answer.
func (l *lane) all() int {
	n := l.queued()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.flying {
		n += m.wanted
	}
	return n
}

// A message whose answer was lost is answered also after later ones.
func TestLaterMessagesAreAnswered(t *testing.T) {
	b := newBench(t)
	b.own()
	c, net := b.far()
	b.do(c, setOp("a", "1"))
	c.quiet = time.Hour // the copy comes when the test says so
	var answers atomic.Int64
	net.setFate(func(answer bool) time.Duration {
		if answer && answers.Add(1) == 1 {
			return lost
		}
		return 0
	})
	call, errs := &core.Call{Ops: []core.Op{removeOp("a")}}, make(chan error)
	go func() { errs <- c.Do(t.Context(), 0, call, c.Now()) }()
	b.Eventually(func() bool { return answers.Load() == 1 }, time.Minute, time.Millisecond)
	b.do(c, setOp("a", "2"))
	b.do(c, setOp("a", "3"))
	c.Moved(0)
	b.NoError(<-errs)
	b.True(call.Took[0])
	b.Equal([]string{"1"}, call.Values)
	b.Equal("3", b.get(c, "a"))
}
