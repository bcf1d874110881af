package cluster

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// readClock is a clock that counts how often calls have read when they begin.
type readClock struct {
	*clock.Mock
	reads atomic.Int64
}

func (c *readClock) Elapsed() time.Duration {
	if caller, _, _, ok := runtime.Caller(1); ok && strings.HasSuffix(runtime.FuncForPC(caller).Name(), "remote.(*Client).Now") {
		defer c.reads.Add(1)
	}
	return c.Mock.Elapsed()
}

// The duration of a call counts from its beginning, also if it is asked again of another owner.
func TestDurationOfARetriedCall(t *testing.T) {
	w := newWorld(t)
	a := w.process()
	a.lease = time.Minute // the process keeps its partitions
	c := &readClock{Mock: clock.NewMock()}
	a.clock = c
	w.NoError(a.open(t.Context()))
	w.eventually("all", func() bool { return a.owns() == partitions })
	at := of("key1")
	begin := func(do func()) {
		before := c.reads.Load()
		go do()
		w.eventually("begun", func() bool { return c.reads.Load() > before })
	}
	held, hold := make(chan bool), make(chan bool)
	first := true
	a.logs[at].Before = func(uint64) {
		if first {
			first = false
			held <- true
			<-hold
		}
	}
	begin(func() { _, _, _ = a.do(frame.Remove, "in doubt1", "", 0) })
	begin(func() { _, _, _ = a.do(frame.Set, "other1", "", time.Hour) })
	<-held
	p := a.owned[at].Load()
	done := make(chan bool)
	begin(func() { a.set("key1", "", time.Hour); close(done) })
	c.Add(10 * time.Minute)
	gone := make(chan bool)
	go func() { p.Abandon(); close(gone) }()
	w.eventually("abandoned", func() bool { _, err := p.Len(); return err != nil })
	hold <- true
	<-gone
	<-done
	_, remaining, ok, err := a.Get(t.Context(), at, []byte("key1"))
	w.NoError(err)
	w.True(ok)
	w.Equal(50*time.Minute, remaining)
}

// A process that can't open a partition gives it to one that asks for it.
func TestPartitionThatItsHolderCantOpen(t *testing.T) {
	w := newWorld(t)
	a := w.process()
	a.lease, a.answer = time.Minute, patience // the process keeps its partitions
	w.NoError(a.open(t.Context()))
	w.eventually("all", func() bool { return a.owns() == partitions })
	last := partitions - 1
	p := a.owned[last].Load()
	a.logs[last].Close()
	p.Abandon()
	w.eventually("closed", func() bool { return a.owned[last].Load() == nil })
	b := w.openSteady() // it can't come back
	w.eventually("two each", func() bool { return a.owns() == 2 && b.owns() == 2 })
	b.set("key3", "", time.Hour)
}

// A partition that was just taken over is kept, also if the news of its claim come late.
func TestTakenPartitionIsKept(t *testing.T) {
	for range 20 {
		w := newWorld(t)
		a := w.process()
		a.lease = time.Minute
		w.NoError(a.open(t.Context()))
		for at := range partitions {
			w.EqualValues(1, a.owned[at].Load().Epoch())
		}
		a.close()
	}
}
