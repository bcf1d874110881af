package command

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/api"
)

const kindsOfLimits = "KIND is queue, host, subject or prefix: the timers of a queue, the webhooks of a host (with a port, or all\n" +
	"of its ports), the messages of a subject, or all timers whose keys begin with NAME."

const orTimer = "\nWith timer, NAME is the key of a timer with a schedule, which alone is paused and resumed."

func pauseCommand(std streams) *cobra.Command {
	c := &cobra.Command{
		Use: "pause KIND NAME", Short: "Let no attempt begin", Args: cobra.ExactArgs(2), Example: "  epicycle pause queue mails\n  epicycle pause timer report",
		Long: "Let no attempt begin, until resume. Attempts in progress go on, and what is due waits.\n" + kindsOfLimits + orTimer,
	}
	return pausing(std, c, true)
}

func resumeCommand(std streams) *cobra.Command {
	c := &cobra.Command{
		Use: "resume KIND NAME", Short: "Let attempts begin again", Args: cobra.ExactArgs(2), Example: "  epicycle resume queue mails",
		Long: "Let attempts begin again, at the rate that limit has set. A timer waits for its next run.\n" +
			kindsOfLimits + orTimer,
	}
	return pausing(std, c, false)
}

func limitCommand(std streams) *cobra.Command {
	c := &cobra.Command{
		Use: "limit KIND NAME", Short: "Limit how many attempts begin in a second, and are made at once", Args: cobra.ExactArgs(2),
		Example: "  epicycle limit host api.example.com -rate 50 -at-once 10\n  epicycle limit prefix tenant-7/ -rate 0.5",
		Long: "Limit how many attempts begin in a second, and are made at once, of all servers together. A flag that is left out\n" +
			"leaves its limit as it is.\n" + kindsOfLimits,
	}
	c.Flags().SortFlags = false
	rate := c.Flags().Float64("rate", 0, "attempts that begin in a second, 0.5 for one every 2s; 0: any number")
	atOnce := c.Flags().Int("at-once", 0, "attempts at once; 0: any number")
	return limiting(std, c, func() (*api.Limiting, error) {
		l := new(api.Limiting)
		if c.Flags().Changed("rate") {
			l.Rate = rate
		}
		if c.Flags().Changed("at-once") {
			l.AtOnce = atOnce
		}
		if *l == (api.Limiting{}) {
			return nil, usageError("limit needs -rate or -at-once")
		}
		return l, nil
	})
}

// limiting makes a command that changes a limit.
func limiting(std streams, c *cobra.Command, change func() (*api.Limiting, error)) *cobra.Command {
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) error {
		in, err := change()
		if err != nil {
			return err
		}
		return r.limit(c, args[0], args[1], in)
	})
}

// pausing makes a command that pauses or resumes a limit, or the schedule of a timer.
func pausing(std streams, c *cobra.Command, paused bool) *cobra.Command {
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) error {
		if args[0] == "timer" {
			return r.pauseTimer(c, args[1], paused)
		}
		return r.limit(c, args[0], args[1], &api.Limiting{Paused: &paused})
	})
}

// limit changes a limit, and prints it.
func (r *remote) limit(c *cobra.Command, kind, name string, in *api.Limiting) error {
	path, err := limitPath(kind, name)
	if err != nil {
		return err
	}
	var out api.Limit
	if err := r.client.Do(c.Context(), http.MethodPatch, path, in, &out); err != nil {
		return err
	}
	return r.print(&out, func() error { return printLimits(r, []api.Limit{out}) })
}

// limitPath returns the path of a limit.
func limitPath(kind, name string) (string, error) {
	switch kind {
	case "queue", "host", "subject", "prefix":
		return "/v1/limits/" + kind + "/" + strings.ReplaceAll(url.PathEscape(name), ".", "%2E"), nil
	}
	return "", usageError("%q is none of queue, host, subject and prefix", kind)
}

func limitsCommand(std streams) *cobra.Command {
	c := &cobra.Command{Use: "limits", Short: "Show what is paused and limited, and how much waits because of it", Args: cobra.NoArgs}
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, _ []string) error {
		var out api.Limits
		if err := r.client.Do(c.Context(), http.MethodGet, "/v1/limits", nil, &out); err != nil {
			return err
		}
		return r.print(&out, func() error { return printLimits(r, out.Limits) })
	})
}

func printLimits(r *remote, all []api.Limit) error {
	t := newTable(r.std.out, "KIND", "NAME", "PAUSED", "RATE", "AT ONCE", "WAITING")
	for _, l := range all {
		paused, rate, atOnce := "-", "-", "-"
		if l.Paused {
			paused = "paused"
		}
		if l.Rate > 0 {
			rate = fmt.Sprintf("%v/s", l.Rate)
		}
		if l.AtOnce > 0 {
			atOnce = fmt.Sprint(l.AtOnce)
		}
		t.row(l.Kind, l.Name, paused, rate, atOnce, fmt.Sprint(l.Waiting))
	}
	return t.end()
}
