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

// Export writes all timers to out as lines of JSON, which Import reads: timers that wait, run or are dead, with their
// IDs, attempts and schedules, and with their keys and values as Config.Key and Config.Value encode them. The timers of
// each partition are as they were at one moment. The partitions are exported one after another, and calls and handlers
// go on meanwhile. The last line has the number of timers, {"timers":3}. If a partition fails, Export returns its error,
// and out lacks timers and this line.
//
// The memory that Export needs depends on how much changes in a partition while it is exported, not on the number of
// timers. With Conn, the lines of a partition are kept in a file in os.TempDir until they are complete, since Export
// begins again with a partition that changes hands.
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
	if err := writeEnd(e.out, e.n); err != nil {
		return err
	}
	return e.out.Flush()
}

// ExportPrefix is Export for the timers whose keys begin with prefix, as Config.Key encodes them, in the order of their
// keys. It costs nothing for other timers. A timer that is there throughout is exported once, as it was at some moment
// meanwhile.
func (w *Keyed[K, V]) ExportPrefix(ctx context.Context, out io.Writer, prefix string) error {
	buffered, n := bufio.NewWriter(out), 0
	lines := newLineEncoder(buffered)
	for t, err := range w.scan(ctx, Query{Prefix: prefix}, true) {
		if err == nil {
			err = lines.Encode(lineOf(&t))
		}
		if err != nil {
			return err
		}
		n++
	}
	if err := writeEnd(buffered, n); err != nil {
		return err
	}
	return buffered.Flush()
}

// exporter is an Export in progress.
type exporter struct {
	out   *bufio.Writer
	spool *os.File // nil if the export of a partition never has to start over
	lines *json.Encoder
	part  *bufio.Writer // the destination of lines
	n     int           // the number of timers of the partitions that are complete
	some  int           // the number of timers of the current partition so far
}

func (w *Keyed[K, V]) exportOne(ctx context.Context, at int, e *exporter) error {
	err := w.owners.Export(ctx, at, e.begin, func(t state.Timer) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.some++
		return e.lines.Encode(lineOf(&t))
	})
	if err != nil {
		return err
	}
	return e.end()
}

// begin is called when the export of a partition begins, and again when that export has to start over.
func (e *exporter) begin() error {
	e.part, e.some = e.out, 0
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

// end copies the lines of a partition from the spool to out, now that they are complete.
func (e *exporter) end() error {
	e.n += e.some
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
		State: StateWaiting.String(), Schedule: t.Schedule, Missed: t.Missed, Started: t.Started, Paused: t.Paused, Trace: []byte(t.Trace)}
	l.setKey([]byte(t.Key))
	l.setValue([]byte(t.Value))
	l.setError(t.LastError)
	if t.LastError != "" || t.Dead {
		failed := timeOf(t.Failed).UTC()
		l.Failed = &failed
	}
	if t.Debounced {
		since := timeOf(t.Since).UTC()
		l.Debounced = &since
	}
	switch {
	case t.Dead:
		l.State = StateDead.String()
	case t.Running:
		l.State = StateRunning.String()
	case t.Next != 0:
		next := timeOf(t.Next).UTC()
		l.Next = &next
	}
	return l
}
