package remote

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// A lane is not awake all the time for a call that was given up while others of its message wait.
func TestLaneSleepsAfterACallHasEnded(t *testing.T) {
	b := newBench(t)
	l, now := b.client().lanes[0], time.Now()
	l.mu.Lock()
	old, young := &request{begun: Moment{real: now.Add(-2 * time.Minute)}, ended: true}, &request{begun: Moment{real: now}}
	l.flying = []*message{{requests: []*request{old, young}, wanted: 1, sendAt: now.Add(8 * time.Second)}}
	l.aim()
	l.flying = nil
	aimed := l.aimed
	l.mu.Unlock()
	b.True(aimed.After(now))
}

// Each copy goes to all who subscribe, so the answer of a process that owns nothing says nothing of what the owner will do.
func TestRefusalAfterTheAnswerOfAnother(t *testing.T) {
	b := newBench(t)
	l := b.client().lanes[0]
	a := &request{begun: Moment{real: time.Now()}, done: make(chan struct{}, 1)}
	l.mu.Lock()
	a.message = &message{serial: 1, requests: []*request{a}, wanted: 1, sendAt: time.Now().Add(time.Hour)}
	l.flying = []*message{a.message}
	l.mu.Unlock()
	l.answered(1, appendFailure(nil, partition.ErrNotOwner))
	l.answered(1, appendFailure(nil, core.ErrTooLarge))
	<-a.done
	b.ErrorIs(a.err, partition.ErrUnavailable)
	b.ErrorIs(a.err, core.ErrTooLarge)
}

// An owner that refuses a call may have taken over from one that has written it.
func TestRefusedCopyOfACall(t *testing.T) {
	b := newBench(t)
	o := b.own()
	far, net := b.between()
	var once sync.Once
	forgot := make(chan bool)
	net.setFate(func(answer bool) time.Duration {
		if answer {
			once.Do(func() { close(forgot) })
			return lost
		}
		return 0
	})
	c, err := New(far)
	b.NoError(err)
	c.count()
	defer c.Close()
	errs := make(chan error)
	go func() { _, err := c.try(t.Context(), setOp("a", "1")); errs <- err }()
	<-forgot
	b.Equal("1", b.get(b.client(), "a")) // it has been committed
	o.dead.Store(true)
	o.shut()
	s, err := Refuse(b.cfg, 0, fmt.Errorf("%w: frame 7 is missing", partition.ErrDamaged))
	b.NoError(err)
	defer s.Stop()
	net.setFate(func(bool) time.Duration { return 0 })
	err = <-errs
	b.ErrorIs(err, partition.ErrUnavailable)
	b.ErrorIs(err, partition.ErrDamaged)
}

// Pages are no larger than what the servers take.
func TestPagesOnServersThatTakeLittle(t *testing.T) {
	small, err := server.NewServer(&server.Options{DontListen: true, MaxPayload: 64 << 10, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	small.Start()
	defer small.WaitForShutdown()
	defer small.Shutdown()
	nc, err := nats.Connect("", nats.InProcessServer(small), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	b := newBench(t)
	b.cfg.Bus, b.cfg.GiveUp = jetstream.NewBus(nc), time.Minute
	o, c := b.own(), b.client()
	for i := range 300 {
		b.do(c, setOp(fmt.Sprint(i), strings.Repeat("v", 1000)))
	}
	b.do(c, setOp("largest", strings.Repeat("v", 60<<10)))
	n := 0
	b.NoError(c.Scan(t.Context(), 0, false, func(state.Timer) bool { n++; return true }))
	b.Equal(301, n)
	c.Close()
	o.dead.Store(true)
	o.shut()
}
