package command

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/epicycle-go/epicycle/hierarchy/durable/clients/go"
)

func takeCommand(std streams) *cobra.Command {
	var n int
	var wait time.Duration
	c := &cobra.Command{
		Use: "take QUEUE", Short: "Take firings from a queue", Args: cobra.ExactArgs(1),
		Example: "  epicycle take mails -max 10 -wait 20s",
	}
	c.Flags().IntVar(&n, "max", 1, "at most so many")
	c.Flags().DurationVar(&wait, "wait", 0, "for the first one")
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) error {
		var out struct {
			Firings []epicycle.Firing `json:"firings"`
		}
		var err error
		if out.Firings, err = r.client.Take(c.Context(), args[0], n, wait); err != nil {
			return err
		}
		return r.print(&out, func() error {
			t := newTable(r.std.out, "KEY", "DUE", "ATTEMPT", "TIMEOUT", "TOKEN", "VALUE")
			for _, f := range out.Firings {
				t.row(f.Key, f.Due.Local().Format(time.RFC3339), fmt.Sprint(f.Attempt), f.Timeout.String(), f.Token, short(string(f.Value)))
			}
			return t.end()
		})
	})
}

func doneCommand(std streams) *cobra.Command {
	c := &cobra.Command{Use: "done QUEUE TOKEN...", Short: "End firings that were taken", Args: cobra.MinimumNArgs(2)}
	return ending(std, c, func(r *remote, c *cobra.Command, args []string) ([]epicycle.Result, error) {
		return r.client.Done(c.Context(), args[0], args[1:]...)
	})
}

func failCommand(std streams) *cobra.Command {
	c := &cobra.Command{Use: "fail QUEUE TOKEN...", Short: "Say that firings that were taken have failed", Args: cobra.MinimumNArgs(2)}
	reason := c.Flags().String("error", "", "why")
	return ending(std, c, func(r *remote, c *cobra.Command, args []string) ([]epicycle.Result, error) {
		return r.client.Fail(c.Context(), args[0], *reason, args[1:]...)
	})
}

// ending makes a command that ends firings. Its exit code is notFound unless all of them could be ended.
func ending(std streams, c *cobra.Command, end func(*remote, *cobra.Command, []string) ([]epicycle.Result, error)) *cobra.Command {
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) error {
		var out struct {
			Results []epicycle.Result `json:"results"`
		}
		var err error
		if out.Results, err = end(r, c, args); err != nil {
			return err
		}
		err = r.print(&out, func() error {
			t := newTable(r.std.out, "TOKEN", "OK", "ERROR")
			for i, result := range out.Results {
				t.row(args[1+i], fmt.Sprint(result.OK), result.Error)
			}
			return t.end()
		})
		for _, result := range out.Results {
			if !result.OK && err == nil {
				err = &exit{notFound, fmt.Errorf("not all of them could be ended")}
			}
		}
		return err
	})
}
