package durable

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

const (
	importOps   = 500       // the operations of one partition at which a batch is committed
	importBytes = 256 << 10 // the bytes above which a batch is committed
	maxLine     = 1 << 20
)

// Import reads lines that Export, or the command salvage, has written, and sets their timers; the number of partitions
// may have changed. A timer from in replaces the timer that its key has. All other timers stay. IDs, attempts and
// schedules are as they were exported. A timer that was running waits, and is due again, as after a crash of its owner.
// So is one whose attempt goes on by its token (see Attempt.Token): that attempt begins again, with another token.
// If a run of a schedule is in the past by then, whether it was missed is decided as in any takeover: see SetSchedule.
//
// The timers are committed in batches, and n is the number of timers that were committed. After an error, some lines
// may have been imported: Import can be repeated with the same lines. If a partition fails, the timers of the others are
// imported nevertheless, and the errors are joined. If a line can't be read, the lines before it are
// imported, and the error has the line's number. It is ErrArgument or ErrTooLarge.
//
// The last line must be the number of timers, as {"timers":3}. Several exports may follow each other. If that line is
// missing, or has another number, all lines that are there are imported, also those of the exports that follow, and the
// error is ErrIncomplete, unless there is another one: in was cut short, or lines were left out. A program that imports
// a part of an export on purpose can ignore ErrIncomplete, or write the last line itself.
func (w *Keyed[K, V]) Import(ctx context.Context, in io.Reader) (n int, err error) {
	i := &importer{do: w.doAll, calls: make([]*core.Call, w.owners.Len()), failed: make([]error, w.owners.Len())}
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, maxLine)
	number := 0
	for scan.Scan() {
		if number++; len(scan.Bytes()) == 0 {
			continue
		}
		l, op, err := w.imported(scan.Bytes())
		if err == nil && l.Timers != nil {
			i.end(number, *l.Timers)
		} else if err == nil && i.add(of(op.Key, len(i.calls)), op) {
			if i.commit(ctx); i.hopeless(ctx) {
				break
			}
		}
		if err != nil {
			return i.flush(ctx, inLine(number, ofPackage(err)))
		}
	}
	switch err = scan.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		err = inLine(number+1, fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, maxLine))
	case err == nil && !i.ended && i.hopeless(ctx): // lines may be left that were not read
		err = ctx.Err()
	case err == nil && !i.ended:
		i.incomplete(fmt.Errorf("%w: the last one, with the number of timers, is missing", ErrIncomplete))
	}
	return i.flush(ctx, err)
}

// importer is an Import in progress.
type importer struct {
	do    func(context.Context, []*core.Call) []error
	calls []*core.Call // operations that are not committed yet
	bytes int          // the size of the operations in calls
	n     int          // the number of timers that are committed
	// failed has the first error of each partition. Nothing more is imported into one that has failed.
	failed []error

	short error // the first ErrIncomplete
	since int   // the number of timers since the beginning, or since the last end
	ended bool  // the last line was an end
}

// end compares a line with the number of timers with the lines before it. Another export may follow.
func (i *importer) end(line, n int) {
	if n != i.since {
		i.incomplete(inLine(line, fmt.Errorf("%w: there should be %d timers, and are %d", ErrIncomplete, n, i.since)))
	}
	i.since, i.ended = 0, true
}

// incomplete records that lines are missing. Only the first such error is returned, at the end.
func (i *importer) incomplete(err error) {
	if i.short == nil {
		i.short = err
	}
}

func inLine(number int, err error) error { return storage.In(fmt.Sprintf("line %d", number), err) }

// add adds an operation to the batch, and reports whether the batch should be committed now.
func (i *importer) add(at int, a core.Op) bool {
	i.since++
	i.ended = false
	if i.failed[at] != nil {
		return false
	}
	c := addOp(i.calls, at, a)
	i.bytes += len(a.Key) + len(a.Value) + len(a.Timer.Schedule) + len(a.Timer.Trace) + len(a.Timer.LastError)
	return len(c.Ops) == importOps || i.bytes > importBytes
}

// commit commits what was added.
func (i *importer) commit(ctx context.Context) {
	errs := i.do(ctx, i.calls)
	for at, c := range i.calls {
		switch {
		case c == nil:
		case errs[at] == nil:
			i.n += len(c.Ops)
		default:
			i.failed[at] = errs[at]
		}
	}
	clear(i.calls)
	i.bytes = 0
}

// hopeless reports whether nothing more can be imported.
func (i *importer) hopeless(ctx context.Context) bool {
	return ctx.Err() != nil || !slices.Contains(i.failed, nil)
}

// flush commits what was added. It returns the number of timers that were committed in all, and the errors of the
// partitions joined with why. If there is none, it returns the first ErrIncomplete, which some programs ignore.
func (i *importer) flush(ctx context.Context, why error) (int, error) {
	i.commit(ctx)
	if err := errors.Join(append(i.failed, why)...); err != nil {
		return i.n, err
	}
	return i.n, i.short
}

var (
	errZeroID = fmt.Errorf("%w: the ID is zero, which no timer has", core.ErrArgument)
	errCount  = fmt.Errorf("%w: attempts and missed are at most %d", core.ErrArgument, state.MaxCount)
)

// imported parses a line, and returns the operation that imports it, unless the line is the end.
func (w *Keyed[K, V]) imported(text []byte) (l *line, a core.Op, err error) {
	l, key, value, err := parseLine(text)
	if err != nil {
		return l, a, fmt.Errorf("%w: %w", core.ErrArgument, err)
	}
	if l.Timers != nil {
		return l, a, nil
	}
	id, err := ParseID(l.ID)
	switch {
	case err != nil:
		return l, a, err
	case id == ID{}:
		return l, a, errZeroID
	case l.Attempts > state.MaxCount || l.Missed > state.MaxCount:
		return l, a, errCount
	case len(key) > maxKey || len(value) > maxValue || len(l.Schedule) > core.MaxSchedule ||
		len(l.Trace) > core.MaxTrace || len(l.getError()) > core.MaxError:
		return l, a, ErrTooLarge
	}
	if _, err := parseStored(l.Schedule); err != nil {
		return l, a, err
	}
	if _, _, _, err := w.decode(string(key), string(value), ""); err != nil {
		return l, a, fmt.Errorf("%w: %w", core.ErrArgument, err)
	}
	t, err := w.timerOf(l, id)
	return l, core.Op{Kind: frame.Import, Key: key, Value: value, Timer: t}, err
}

// timerOf returns the timer of a line, without its key and value.
func (w *Keyed[K, V]) timerOf(l *line, id ID) (*state.Timer, error) {
	t := &state.Timer{ID: id.id, Wall: l.WallTime, Attempt: l.Attempts,
		Dead:  l.State == StateDead.String(),
		Extra: state.Extra{Schedule: l.Schedule, Trace: string(l.Trace), Missed: l.Missed, Started: l.Started, Paused: l.Paused}}
	t.LastError = l.getError()
	return t, l.setTimes(t, w.cfg.Clock.Now())
}

// setTimes sets the times of a timer to those of a line.
func (l *line) setTimes(t *state.Timer, now time.Time) error {
	set := func(to *int64, from *time.Time) error {
		var exact bool
		if *to, exact = instantOf(*from); !exact {
			return fmt.Errorf("%w: logs can't have the time %v", core.ErrArgument, *from)
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
	if t.Debounced = l.Debounced != nil; err == nil && t.Debounced {
		err = set(&t.Since, l.Debounced)
	}
	return err
}
