package partition

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// marks writes the mark of a log. The mark names the last frame that was acknowledged. When the log is next read, it
// must still have that frame. It does not use the state.
type marks struct {
	cfg     *Config
	writing context.Context // the context of the writer
	warning seldom

	mu       mutex
	acked    storage.Mark // the last frame that was acknowledged
	timer    *time.Timer
	pending  bool      // timer will call writeLater
	left     bool      // the next owner writes the mark
	doubtful time.Time // since when the marks have seemed to be damaged

	busy    chan bool    // of capacity 1; full while a mark is being written
	written storage.Mark // guarded by busy
}

const (
	markTime = 5 * time.Second       // the limit for writing a mark
	endPause = 20 * time.Millisecond // the pause before the first retry of writeAtEnd; doubled for each further retry
	// markBehind is the time for which a write is retried while the marks seem to be damaged. A server that was just
	// elected as leader may not know the stream of the marks yet.
	markBehind = 5 * time.Second
)

const markFailed = "durable: the mark was not written"

// acknowledged records the last frame. The mark of that frame is written within MarkEvery. An idle log causes no
// writes.
func (m *marks) acknowledged(h *core.Head) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acked = storage.Mark{Number: h.Number, Checksum: h.Checksum}
	m.writeSoon()
}

// writeSoon starts the timer, unless it is running.
func (m *marks) writeSoon() {
	m.mu.assertHeld()
	if !m.pending {
		m.pending = true
		m.timer = time.AfterFunc(m.cfg.MarkEvery, m.writeLater)
	}
}

// writeLater is called by the timer. If the mark was not written, writeLater retries, because an idle log has no later
// frame that triggers another write. If the marks are damaged, it does not retry, since the retries of an idle log
// would never end.
func (m *marks) writeLater() {
	m.mu.Lock()
	m.pending = false
	m.mu.Unlock()
	err := m.write()
	if err == nil || m.writing.Err() != nil { // in the second case the partition has ended meanwhile
		return
	}
	if !m.damaged(err) {
		m.mu.Lock()
		m.writeSoon()
		m.mu.Unlock()
	}
	m.warn(markFailed, err)
}

// warn logs a failure, unless another one was logged shortly before.
func (m *marks) warn(text string, err error) {
	if m.warning.due() {
		m.cfg.Logger.Warn(text, "partition", m.cfg.Partition, "err", err)
	}
}

// last returns the mark of the last frame that was acknowledged.
func (m *marks) last() storage.Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.acked
}

// write writes the mark of the last acknowledged frame, unless that mark was written before.
func (m *marks) write() error {
	m.busy <- true
	defer func() { <-m.busy }()
	mark := m.last()
	if mark == m.written {
		return nil
	}
	ctx, cancel := context.WithTimeout(m.writing, markTime)
	defer cancel()
	if err := m.cfg.Log.SetMark(ctx, mark); err != nil {
		return err
	}
	m.written = mark
	m.mu.Lock()
	m.doubtful = time.Time{}
	m.mu.Unlock()
	return nil
}

// damaged reports whether the marks have seemed to be damaged for longer than markBehind. A server that is merely
// behind can't be the cause then.
func (m *marks) damaged(err error) bool {
	if !errors.Is(err, storage.ErrDamaged) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.doubtful.IsZero() {
		m.doubtful = time.Now()
	}
	return time.Since(m.doubtful) >= markBehind
}

// leave leaves the mark to the next owner.
func (m *marks) leave() {
	m.mu.Lock()
	m.left = true
	m.mu.Unlock()
}

// stop stops the timer, and reports whether the mark is left to the next owner.
func (m *marks) stop() (left bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timer != nil {
		m.timer.Stop()
	}
	return m.left
}

// writeAtEnd writes the mark after the last frame. It retries until the writer is abandoned, because the marks may be
// without a leader for some seconds.
func (m *marks) writeAtEnd() error {
	for retry := (wait.Backoff{First: endPause, Last: time.Second}); ; {
		err := m.write()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, context.Canceled):
			err = errCut
		case !m.damaged(err) && retry.Wait(m.writing):
			continue
		}
		m.cfg.Logger.Warn(markFailed, "partition", m.cfg.Partition, "err", err)
		return m.cfg.because(fmt.Errorf("the mark was not written: %v", err))
	}
}
