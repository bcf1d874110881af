package durable

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

const (
	importOps   = 500       // the operations of one partition at which a batch is committed
	importBytes = 256 << 10 // the bytes above which a batch is committed
	maxLine     = 1 << 20
)

// Import reads lines that Export, or the command salvage, has written, and sets their timers; the number of partitions
// may have changed. A timer from in replaces the timer that its key has. All other timers stay. IDs, attempts and
// schedules are as they were exported. A timer that was running waits, and is due again, as after a crash of its owner.
// If a run of a schedule is in the past by then, whether it was missed is decided as in any takeover: see SetSchedule.
//
// The timers are committed in batches, and n is the number of timers that were committed. After an error, some lines
// may have been imported: Import can be repeated with the same lines. If a line can't be read, the lines before it are
// imported, and the error has the line's number. It is ErrArgument or ErrTooLarge. The error is ErrUnavailable while a
// process that runs an earlier version of this package shares the timers.
func (w *Keyed[K, V]) Import(ctx context.Context, in io.Reader) (n int, err error) {
	i := &importer{do: w.doAll, calls: make([]*partition.Call, w.owners.Len())}
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, maxLine)
	number := 0
	for scan.Scan() {
		if number++; len(scan.Bytes()) == 0 {
			continue
		}
		op, err := w.imported(scan.Bytes())
		if err != nil {
			return i.flush(ctx, fmt.Errorf("durable: line %d: %w", number, err))
		}
		if i.add(of(op.Key, len(i.calls)), op) {
			if n, err := i.flush(ctx, nil); err != nil {
				return n, err
			}
		}
	}
	if err = scan.Err(); errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("durable: line %d: %w: it has more than %d bytes", number+1, ErrTooLarge, maxLine)
	}
	return i.flush(ctx, err)
}

// importer is an Import in progress.
type importer struct {
	do    func(context.Context, []*partition.Call) []error
	calls []*partition.Call // operations that are not committed yet
	bytes int               // the size of the operations in calls
	n     int               // the number of timers that are committed
}

// add adds an operation to the batch, and reports whether the batch should be committed now.
func (i *importer) add(at int, a partition.Op) bool {
	c := addOp(i.calls, at, a)
	i.bytes += len(a.Key) + len(a.Value) + len(a.Timer.Schedule) + len(a.Timer.Trace) + len(a.Timer.LastError)
	return len(c.Ops) == importOps || i.bytes > importBytes
}

// flush commits what was added. It returns the number of timers that were committed in all, and the errors of the calls
// joined with why.
func (i *importer) flush(ctx context.Context, why error) (int, error) {
	errs := i.do(ctx, i.calls)
	for at, c := range i.calls {
		if c != nil && errs[at] == nil {
			i.n += len(c.Ops)
		}
	}
	clear(i.calls)
	i.bytes = 0
	return i.n, errors.Join(append(errs, why)...)
}

// imported returns the operation that imports a line.
func (w *Keyed[K, V]) imported(line []byte) (a partition.Op, err error) {
	l, key, value, err := parseLine(line)
	if err != nil {
		return a, fmt.Errorf("%w: %w", ErrArgument, err)
	}
	id, err := ParseID(l.ID)
	if err != nil {
		return a, err
	}
	if _, err := parseStored(l.Schedule); err != nil {
		return a, err
	}
	if len(key) > maxKey || len(value) > maxValue || len(l.Schedule) > partition.MaxSchedule ||
		len(l.Trace) > partition.MaxTrace || len(l.getError()) > partition.MaxError {
		return a, ErrTooLarge
	}
	if _, _, _, err := w.decode(string(key), string(value), ""); err != nil {
		return a, fmt.Errorf("%w: %w", ErrArgument, err)
	}
	t := &state.Timer{ID: id.id, Wall: l.WallTime, Attempt: l.Attempts,
		Dead:  l.State == StateDead.String(),
		Extra: state.Extra{Schedule: l.Schedule, Trace: string(l.Trace), Missed: l.Missed, Started: l.Started}}
	t.LastError = l.getError()
	if err := l.setTimes(t, w.cfg.Clock.Now()); err != nil {
		return a, err
	}
	return partition.Op{Kind: frame.Import, Key: key, Value: value, Timer: t}, nil
}

// setTimes sets the times of a timer to those of a line.
func (l *line) setTimes(t *state.Timer, now time.Time) error {
	set := func(to *int64, from *time.Time) error {
		var exact bool
		if *to, exact = instantOf(*from); !exact {
			return fmt.Errorf("%w: logs can't have the time %v", ErrArgument, *from)
		}
		return nil
	}
	err := set(&t.Due, &l.Due)
	if err == nil && l.Next != nil {
		err = set(&t.Next, l.Next)
	}
	if err == nil && (t.Dead || t.LastError != "") {
		err = set(&t.Failed, cmp.Or(l.Failed, &now))
	}
	return err
}
