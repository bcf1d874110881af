package command

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/api"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// table prints rows in columns. The first row is the heading.
type table struct{ w *tabwriter.Writer }

func newTable(out io.Writer, heading ...string) *table {
	t := &table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	t.row(heading...)
	return t
}

func (t *table) row(cells ...string) {
	for i := range cells {
		cells[i] = printable(cells[i])
	}
	fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

func (t *table) end() error { return t.w.Flush() }

// printable replaces characters that could control a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return '�'
		}
		return r
	}, s)
}

const longestCell = 60

// short shortens a text to fit into a cell.
func short(s string) string {
	if r := []rune(s); len(r) > longestCell {
		return string(r[:longestCell-1]) + "…"
	}
	return s
}

// timersTable begins a table of timers.
func timersTable(out io.Writer) *table {
	return newTable(out, "KEY", "STATE", "DUE", "NEXT", "ATTEMPT", "TO", "VALUE", "LAST ERROR")
}

func (t *table) timer(one *api.Timer) {
	t.row(one.Key, state(one), one.Due.Local().Format(time.RFC3339), until(one), fmt.Sprint(one.Attempt), target(one),
		short(string(one.Value)), short(one.LastError))
}

// state returns the state of a timer, and paused if it waits because of that.
func state(one *api.Timer) string {
	if one.Paused && one.State == "waiting" {
		return "paused"
	}
	return one.State
}

// until returns the time until the next attempt.
func until(one *api.Timer) string {
	at := one.Due
	if one.Next != nil {
		at = *one.Next
	}
	d := time.Until(at)
	switch {
	case one.State == "dead":
		return "-"
	case one.State == "running":
		return "now"
	case one.Paused && d < 0:
		return "-" // when it is resumed, it waits for its next run
	case d < 0:
		return "due"
	}
	return "in " + terminal.Span(d)
}

func target(one *api.Timer) string {
	switch to := one.To; {
	case to.Webhook != "":
		return short(to.Webhook)
	case to.Subject != "":
		return "subject " + to.Subject
	default:
		return "queue " + to.Queue
	}
}

// printTimer prints a timer, a line for each field.
func printTimer(out io.Writer, one *api.Timer) error {
	t := newTable(out, "key", one.Key)
	t.row("state", state(one))
	t.row("due", one.Due.Local().Format(time.RFC3339Nano))
	if one.Next == nil {
		t.row("next attempt", until(one))
	} else {
		t.row("next attempt", one.Next.Local().Format(time.RFC3339Nano)+" ("+until(one)+")")
	}
	if one.Schedule != "" {
		t.row("schedule", one.Schedule)
	}
	t.row("to", target(one))
	t.hook(&one.To.Hook)
	t.row("timeout", one.Timeout)
	t.retry(one.Retry)
	t.row("attempt", fmt.Sprint(one.Attempt))
	if one.LimitedBy != "" {
		t.row("waits for", one.LimitedBy)
	}
	t.row("id", one.ID)
	t.row("value", string(one.Value))
	if one.LastError != "" {
		t.row("last error", one.LastError)
	}
	if one.LastFailed != nil {
		t.row("failed", one.LastFailed.Local().Format(time.RFC3339Nano))
	}
	if err := t.end(); err != nil || len(one.Attempts) == 0 {
		return err
	}
	return printAttempts(out, one.Attempts)
}

// printAttempts prints the last attempts of a timer, the last one first.
func printAttempts(out io.Writer, all []api.Attempt) error {
	fmt.Fprintln(out)
	t := newTable(out, "ATTEMPT", "TOOK", "STATUS", "ERROR")
	for _, one := range all {
		status := "-"
		if one.Status != 0 {
			status = fmt.Sprint(one.Status)
		}
		t.row(one.At.Local().Format(time.RFC3339Nano), one.Took, status, one.Error)
	}
	return t.end()
}
