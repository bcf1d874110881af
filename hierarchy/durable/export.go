package durable

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Export writes all timers to out as lines of JSON, which Import reads: those that wait, run or are dead, with their
// keys and values as Config.Key and Config.Value encode them, IDs, attempts and schedules. The timers of each partition
// are as they were at one moment. The partitions follow one another, and all goes on meanwhile. If a partition fails,
// Export returns its error, and out lacks timers.
//
// Memory is needed for what changes in a partition while it is exported, not for all timers. With Conn, the lines of a
// partition are kept in a file in os.TempDir until it is whole, as they begin again if it changes hands.
func (w *Keyed[K, V]) Export(ctx context.Context, out io.Writer) error {
	e := &exporter{out: bufio.NewWriter(out)}
	if w.cfg.Conn != nil {
		file, err := os.CreateTemp("", "epicycle-export-*")
		if err != nil {
			return fmt.Errorf("durable: %w", err)
		}
		defer os.Remove(file.Name())
		defer file.Close()
		e.spool = file
	}
	for at := range w.owners.Len() {
		if err := w.exportOne(ctx, at, e); err != nil {
			return err
		}
	}
	return e.out.Flush()
}

// exporter is an Export that is under way.
type exporter struct {
	out   *bufio.Writer
	spool *os.File // or nil: no partition begins again
	lines *json.Encoder
	part  *bufio.Writer // what lines writes to
}

func (w *Keyed[K, V]) exportOne(ctx context.Context, at int, e *exporter) error {
	err := w.owners.Export(ctx, at, e.begin, func(t state.Timer) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return e.lines.Encode(lineOf(&t))
	})
	if err != nil {
		return err
	}
	return e.end()
}

// begin begins a partition, or begins it again.
func (e *exporter) begin() error {
	e.part = e.out
	if e.spool != nil {
		if err := e.spool.Truncate(0); err != nil {
			return err
		}
		if _, err := e.spool.Seek(0, io.SeekStart); err != nil {
			return err
		}
		e.part = bufio.NewWriter(e.spool)
	}
	e.lines = newLineEncoder(e.part)
	return nil
}

// end writes what the spool has, now that the partition is whole.
func (e *exporter) end() error {
	if e.spool == nil {
		return nil
	}
	if err := e.part.Flush(); err != nil {
		return err
	}
	if _, err := e.spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(e.out, e.spool)
	return err
}

func lineOf(t *state.Timer) *line {
	l := &line{ID: ID{t.ID}.String(), Due: timeOf(t.Due).UTC(), WallTime: t.Wall, Attempts: t.Attempt,
		State: StateWaiting.String(), Schedule: t.Schedule, Missed: t.Missed, Started: t.Started, Trace: []byte(t.Trace)}
	l.setKey([]byte(t.Key))
	l.setValue([]byte(t.Value))
	l.setError(t.LastError)
	switch {
	case t.Dead:
		l.State = StateDead.String()
		died := timeOf(t.Died).UTC()
		l.Died = &died
	case t.Running:
		l.State = StateRunning.String()
	case t.Attempt > 0 && t.Next != 0:
		next := timeOf(t.Next).UTC()
		l.Next = &next
	}
	return l
}
