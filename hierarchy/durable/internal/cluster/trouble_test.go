package cluster

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// text is what was logged.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *text) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(b)
}

func (t *text) count(what string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Count(t.b.String(), what)
}

// What keeps a process from taking a partition over is told once, if it does not pass.
func TestTroubleIsLogged(t *testing.T) {
	w := newWorld(t)
	a := w.process()
	a.lease, a.answer = time.Minute, patience // else the trouble may be another one for a moment
	var logged text
	a.logger = slog.New(slog.NewTextHandler(&logged, nil))
	w.NoError(a.open(t.Context()))
	a.logs[0].Close()
	a.owned[0].Load().Abandon()
	const trouble = "a partition can't be taken over"
	w.eventually("told", func() bool { return logged.count(trouble) > 0 })
	time.Sleep(2 * lastPause)
	w.Equal(1, logged.count(trouble))
}

// A damaged log is not read again all the time by a member that should have the partition.
func TestDamagedLogIsLeftAlone(t *testing.T) {
	l := &slot{s: &session{c: &Cluster{router: &router{cfg: Config{Behind: time.Hour}}}}}
	err := named(1, partition.ErrDamaged)
	if l.isDamaged(err) {
		t.Fatal("what has answered may be behind")
	}
	l.doubtful = time.Now().Add(-time.Hour)
	if !l.isDamaged(err) || l.isDamaged(errSilent) {
		t.Fatal("it is damaged")
	}
}
