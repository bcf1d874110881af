package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// outcome is what has become of the rows of a page.
type outcome struct {
	done    []int64
	refused []failure       // the timers refuse them for good
	failed  []failure       // they are tried again later
	behind  []int64         // an earlier row of their key waits, so they wait, too
	waiting map[string]bool // the keys of failed and behind
}

// failure is a row that the timers have not accepted, with the error.
type failure struct {
	row
	err error
}

func (o *outcome) fail(f failure) {
	o.failed = append(o.failed, f)
	o.waiting[string(f.key)] = true
}

func (o *outcome) wait(w *row) {
	o.behind = append(o.behind, w.id)
	o.waiting[string(w.key)] = true
}

// outage reports whether the timers did not answer at all.
func (o *outcome) outage() bool {
	passing := []error{durable.ErrUnavailable, durable.ErrClosed, context.Canceled, context.DeadlineExceeded}
	answered := func(f failure) bool {
		return !slices.ContainsFunc(passing, func(kind error) bool { return errors.Is(f.err, kind) })
	}
	return len(o.failed) > 0 && len(o.done)+len(o.refused) == 0 && !slices.ContainsFunc(o.failed, answered)
}

const (
	firstWait = 100 * time.Millisecond // after the first attempt; doubled each time
	lastWait  = time.Minute
	maxText   = 1 << 10 // of an error in the table
)

// nextAttempt returns when a row is tried again that the timers have not accepted just now.
func nextAttempt(attempts int) int64 {
	return after(min(lastWait, firstWait<<min(attempts, 10)))
}

const behindText = "an earlier row of the key waits"

// settle deletes the rows that were acknowledged, and records why the other rows stay, and for how long.
func (r *relay[K, V]) settle(ctx context.Context, tx Execer, o *outcome) error {
	table := r.box.cfg.Table
	exec := func(statement string, args ...any) error {
		_, err := tx.ExecContext(ctx, fmt.Sprintf(statement, args...))
		return err
	}
	if len(o.done) > 0 {
		if err := exec(`DELETE FROM %s WHERE id IN (%s)`, table, list(o.done)); err != nil {
			return err
		}
	}
	for _, f := range o.refused {
		if err := exec(`UPDATE %s SET next = NULL, failed = %s WHERE id = %d`, table, text(f.err), f.id); err != nil {
			return err
		}
	}
	for _, g := range alike(o.failed) {
		if err := exec(`UPDATE %s SET attempts = attempts + 1, next = %d, failed = %s WHERE id IN (%s)`, table,
			nextAttempt(g.attempts), g.text, list(g.ids)); err != nil {
			return err
		}
	}
	if len(o.behind) == 0 {
		return nil
	}
	// They wait as long as the first row of their key, which is behind none. Of a later one this statement would see the
	// time that it had before.
	return exec(`UPDATE %[1]s SET failed = '%[2]s', next = COALESCE((SELECT w.next FROM %[1]s w WHERE `+isAhead+`
		%[1]s.id AND w.key = %[1]s.key `+firstFirst+`), 1) WHERE id IN (%[3]s)`, table, behindText, list(o.behind))
}

// group is rows that get the same text and the same time.
type group struct {
	attempts int
	text     string
	ids      []int64
}

// alike groups rows, so that each statement is for many.
func alike(failed []failure) (groups []*group) {
	slices.SortStableFunc(failed, func(a, b failure) int {
		return cmp.Or(cmp.Compare(a.attempts, b.attempts), strings.Compare(text(a.err), text(b.err)))
	})
	for _, f := range failed {
		n := len(groups)
		if n == 0 || groups[n-1].attempts != f.attempts || groups[n-1].text != text(f.err) {
			groups, n = append(groups, &group{attempts: f.attempts, text: text(f.err)}), n+1
		}
		groups[n-1].ids = append(groups[n-1].ids, f.id)
	}
	return groups
}

// text returns the text of an error as a literal.
func text(err error) string {
	s := err.Error()
	return quote(strings.ToValidUTF8(s[:min(len(s), maxText)], ""))
}
