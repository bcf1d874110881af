package command

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/epicycle-go/epicycle/hierarchy/durable/clients/go"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/api"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/client"
)

func tailCommand(std streams) *cobra.Command {
	var prefix string
	c := &cobra.Command{
		Use: "tail", Short: "Show what happens to timers, as it happens", Args: cobra.NoArgs, Example: "  epicycle tail -prefix order-",
		Long: "Show what happens to timers, as it happens, at all servers: set, moved, removed, paused, resumed, begun, done,\n" +
			"failed, dead.\n" +
			"What this program is too slow for is counted: missed.",
	}
	c.Flags().StringVar(&prefix, "prefix", "", "only those whose keys begin with it")
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, _ []string) error {
		for e, err := range r.client.Events(c.Context(), prefix) {
			if c.Context().Err() != nil {
				return nil
			}
			if err == nil {
				err = r.print(&e, func() error { return printEvent(std.out, &e) })
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// printEvent prints an event in a line.
func printEvent(out io.Writer, e *epicycle.Event) error {
	line := e.At.Local().Format("2006-01-02T15:04:05.000Z07:00") + fmt.Sprintf("  %-7s", e.Kind)
	if e.Kind == epicycle.EventMissed {
		_, err := fmt.Fprintf(out, "%s  %d events: this reader is too slow\n", line, e.Missed)
		return err
	}
	line += "  " + printable(e.Key)
	if e.Attempt > 0 {
		line += fmt.Sprintf("  attempt %d", e.Attempt)
	}
	if e.Error != "" {
		line += "  " + printable(e.Error)
	}
	_, err := fmt.Fprintln(out, line)
	return err
}

func runCommand(std streams) *cobra.Command {
	c := &cobra.Command{
		Use: "run KEY...", Short: "Make timers due now, dead ones, too", Args: cobra.MinimumNArgs(1), Example: "  epicycle run order-17",
		Long: "Make timers due now, dead ones, too. An attempt in progress ends, and the timer begins anew. If a timer is not found,\n" +
			"the others are run, and the exit code is 1.",
	}
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, keys []string) (err error) {
		for _, key := range keys {
			one := r.run(c, key)
			if p := (*api.Problem)(nil); one != nil && !(errors.As(one, &p) && p.Status == http.StatusNotFound) {
				return one
			}
			if one != nil {
				err = errors.Join(err, fmt.Errorf("%q: %w", key, one))
			}
		}
		return err
	})
}

// run makes a timer due now, and prints it.
func (r *remote) run(c *cobra.Command, key string) error {
	err := r.timer(c, http.MethodPatch, client.Path(key), &api.Moving{In: time.Duration(0).String()})
	if p := (*api.Problem)(nil); errors.As(err, &p) && p.Status == http.StatusNotFound {
		if r.timer(c, http.MethodPost, client.Path(key)+"/revive", nil) == nil { // a dead one can't be moved
			return nil
		}
	}
	return err
}
