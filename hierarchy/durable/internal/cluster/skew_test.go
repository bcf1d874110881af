package cluster

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// wrong is a clock whose wall time is off.
type wrong struct {
	clock.Clock
	by atomic.Int64
}

func (c *wrong) Now() time.Time { return c.Clock.Now().Add(time.Duration(c.by.Load())) }

// said keeps what is logged.
type said struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(b)
}

func (s *said) count(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.all.String(), text)
}

// off is a process whose wall clock is off by so much.
func (w *world) off(by time.Duration) (p *process, c *wrong, log *said) {
	c, log = &wrong{Clock: clock.Precise()}, new(said)
	c.by.Store(int64(by))
	p = w.process()
	p.clock, p.skew, p.logger = c, 5*time.Second, slog.New(slog.NewTextHandler(log, nil))
	return p, c, log
}

const (
	isOff   = "the wall clock is off"
	isRight = "the wall clock is right again"
)

// A process goes on with what it owns when its clock is set, and takes nothing besides.
func TestOwnerWhoseClockIsSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, c, log := w.off(time.Second)
	a.steady() // if it lost it, it would not take anything again
	w.NoError(a.open(t.Context()))
	w.eventually("all", func() bool { return a.owns() == partitions }) // at once, but while its lease has ended
	a.set("late3", "", time.Hour)
	c.by.Store(int64(2 * time.Hour))
	w.eventually("told", func() bool { return log.count(isOff) == 1 })
	w.eventually("known", func() bool { return (a.Skew() - 2*time.Hour).Abs() < 4*time.Second })
	b := w.open()
	w.eventually("half", func() bool { return b.owns() == 2 && a.owns() == 2 })
	a.set("soon2", "", 10*time.Millisecond)
	b.set("soon3", "", 10*time.Millisecond)
	w.eventually("fired", func() bool { return len(w.firings("soon2")) > 0 && len(w.firings("soon3")) > 0 })
	w.Empty(w.firings("late3"))
	b.kill()
	w.eventually("the dead one is known", func() bool { return len(a.latest().now().view.Members) == 1 })
	before := a.epochs()
	time.Sleep(4 * lease)
	w.Equal(before, a.epochs())
	w.eventually("half", func() bool { return a.owns() == 2 })
	w.Zero(log.count(isRight))
	c.by.Store(0)
	w.eventually("all", func() bool { return a.owns() == partitions })
	w.Equal(1, log.count(isRight))
}
