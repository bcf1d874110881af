package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/api"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/client"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// setFlags are the flags of set.
type setFlags struct {
	in          api.Setting
	to          api.Target
	hook        hookFlags
	debounce    api.Debounce
	value, cond string
}

func (s *setFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.in.In, "in", "", "a `duration` from now, such as 30m")
	f.StringVar(&s.in.At, "at", "", "a `time`, such as 2030-01-31T12:00:00Z")
	f.StringVar(&s.in.Schedule, "schedule", "", "a `schedule`, such as '@every 90s' or 'CRON_TZ=Europe/Berlin 30 2 * * *'")
	f.StringVar(&s.in.Spread, "spread", "", "with -schedule: each run is later by a time within this `duration`, the same each time, which the key determines")
	f.StringVar(&s.in.From, "from", "", "with -schedule: no run before this `time`, such as 2030-01-31T12:00:00Z")
	f.StringVar(&s.in.Until, "until", "", "with -schedule: no run after this `time`")
	f.StringVar(&s.debounce.Quiet, "debounce", "", "the `duration` after the last of several calls, such as 5s; each call moves the timer")
	f.StringVar(&s.debounce.Longest, "longest", "", "with -debounce: the longest `duration` after the first call, such as 1m")
	f.StringVar(&s.value, "value", "null", "any `JSON`; - reads it from the standard input")
	f.StringVar(&s.to.Webhook, "webhook", "", "a `URL` that gets a request")
	f.StringVar(&s.to.Subject, "subject", "", "a `subject` of NATS")
	f.StringVar(&s.to.Queue, "queue", "", "a `queue` from which it is taken")
	f.StringVar(&s.in.Timeout, "timeout", "", "the `duration` of an attempt (default 30s)")
	s.hook.add(f)
	f.StringVar(&s.cond, "if", "", "only if there is none (absent), or if it is due sooner or later than the one there is")
}

// setting returns what the flags say. in is read if the value is "-".
func (s *setFlags) setting(in io.Reader) (*api.Setting, error) {
	value := []byte(s.value)
	if s.value == "-" {
		var err error
		if value, err = io.ReadAll(in); err != nil {
			return nil, err
		}
		value = bytes.TrimSpace(value)
	}
	if !json.Valid(value) {
		return nil, usageError("-value is not JSON; a text has quotes: -value '\"text\"'")
	}
	if err := s.hook.apply(&s.in, &s.to); err != nil {
		return nil, err
	}
	s.in.Value, s.in.To = value, &s.to
	if s.debounce != (api.Debounce{}) {
		s.in.Debounce = &s.debounce
	}
	return &s.in, nil
}

func setCommand(std streams) *cobra.Command {
	var s setFlags
	c := &cobra.Command{
		Use: "set KEY", Short: "Set a timer", Args: cobra.ExactArgs(1),
		Example: `  epicycle set order-17 -in 30m -value '{"id":17}' -webhook http://127.0.0.1:9000/cancel
  epicycle set order-18 -in 30m -webhook https://example.com/orders/18 -method DELETE -header 'Authorization: Bearer x' -attempts 5`,
	}
	s.add(c.Flags())
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) error {
		in, err := s.setting(std.in)
		if err != nil {
			return err
		}
		path := client.Path(args[0])
		if s.cond != "" {
			path += "?if=" + url.QueryEscape(s.cond)
		}
		return r.timer(c, http.MethodPut, path, in)
	})
}

// timer sends a request whose answer is a timer, and prints it.
func (r *remote) timer(c *cobra.Command, method, path string, in any) error {
	var t api.Timer
	if err := r.client.Do(c.Context(), method, path, in, &t); err != nil {
		return err
	}
	return r.print(&t, func() error { return printTimer(r.std.out, &t) })
}

func getCommand(std streams) *cobra.Command {
	c := &cobra.Command{Use: "get KEY", Short: "Show a timer", Args: cobra.ExactArgs(1)}
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) error {
		return r.timer(c, http.MethodGet, client.Path(args[0]), nil)
	})
}

func moveCommand(std streams) *cobra.Command {
	var in api.Moving
	c := &cobra.Command{Use: "move KEY", Short: "Move a timer", Args: cobra.ExactArgs(1), Example: "  epicycle move order-17 -in 1h"}
	c.Flags().StringVar(&in.In, "in", "", "a `duration` from now, such as 30m")
	c.Flags().StringVar(&in.At, "at", "", "a `time`, such as 2030-01-31T12:00:00Z")
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) error {
		return r.timer(c, http.MethodPatch, client.Path(args[0]), &in)
	})
}

func reviveCommand(std streams) *cobra.Command {
	c := &cobra.Command{Use: "revive KEY", Short: "Make a dead timer due now", Args: cobra.ExactArgs(1)}
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) error {
		return r.timer(c, http.MethodPost, client.Path(args[0])+"/revive", nil)
	})
}

func removeCommand(std streams) *cobra.Command {
	var prefix string
	var all, yes bool
	c := &cobra.Command{
		Use: "rm [KEY]", Short: "Remove a timer, or many", Args: cobra.MaximumNArgs(1),
		Example: "  epicycle rm order-17\n  epicycle rm -prefix order-",
	}
	c.Flags().StringVar(&prefix, "prefix", "", "remove all timers whose keys begin with it")
	c.Flags().BoolVar(&all, "all", false, "remove all timers")
	c.Flags().BoolVar(&yes, "yes", false, "don't ask")
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) error {
		many := prefix != "" || all
		switch {
		case many == (len(args) == 1), prefix != "" && all:
			return usageError("rm needs one of KEY, -prefix and -all")
		case !many:
			return r.timer(c, http.MethodDelete, client.Path(args[0]), nil)
		case !yes && !r.confirm(prefix):
			return usageError("nothing was removed")
		}
		return r.removeAll(c, prefix)
	})
}

// removeAll removes all timers whose keys have a prefix, and prints their number, also if not all could be removed.
func (r *remote) removeAll(c *cobra.Command, prefix string) error {
	progress := terminal.New(r.std.err, os.Getenv).Progress("removed", -1)
	n, err := r.client.RemoveAll(c.Context(), prefix, progress.At)
	progress.End()
	if err != nil && n == 0 {
		return err
	}
	return errors.Join(err, r.counted("removed", n))
}

// confirm prompts the user before many timers are removed.
func (r *remote) confirm(prefix string) bool {
	what := "all timers"
	if prefix != "" {
		what = fmt.Sprintf("all timers whose keys begin with %q", prefix)
	}
	fmt.Fprintf(r.std.err, "Remove %s? [y/N] ", what)
	line, _ := bufio.NewReader(r.std.in).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}

func listCommand(std streams) *cobra.Command {
	var state string
	c := &cobra.Command{Use: "ls", Short: "List timers in order of their keys", Args: cobra.NoArgs}
	c.Flags().StringVar(&state, "state", "", "only those that are waiting, running or dead, or failing: not dead, and the last attempt has failed, or paused")
	return listing(std, c, &state)
}

func deadCommand(std streams) *cobra.Command {
	state := "dead"
	return listing(std, &cobra.Command{Use: "dead", Short: "List dead timers, and why they died", Args: cobra.NoArgs}, &state)
}

// listing makes a command that lists the timers of a state.
func listing(std streams, c *cobra.Command, state *string) *cobra.Command {
	var prefix string
	var limit int
	c.Flags().StringVar(&prefix, "prefix", "", "only those whose keys begin with it")
	c.Flags().IntVar(&limit, "limit", 0, "at most so many; 0: all")
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, _ []string) error {
		if limit < 0 {
			return usageError("-limit %d is negative", limit)
		}
		if r.json {
			return r.listJSON(c, prefix, *state, limit)
		}
		t := timersTable(r.std.out)
		err := r.client.List(c.Context(), prefix, *state, limit, func(some []api.Timer) error {
			for i := range some {
				t.timer(&some[i])
			}
			return t.end() // ends each page, so that the first page is printed early
		})
		return err
	})
}

// listJSON prints all timers as one object, as the server would.
func (r *remote) listJSON(c *cobra.Command, prefix, state string, limit int) error {
	separator := `{"timers":[`
	err := r.client.List(c.Context(), prefix, state, limit, func(some []api.Timer) error {
		for i := range some {
			b, err := json.Marshal(&some[i])
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(r.std.out, "%s%s", separator, b); err != nil {
				return err
			}
			separator = ",\n"
		}
		return nil
	})
	if err != nil {
		return err
	}
	if separator != ",\n" {
		fmt.Fprint(r.std.out, separator)
	}
	_, err = fmt.Fprintln(r.std.out, "]}")
	return err
}
