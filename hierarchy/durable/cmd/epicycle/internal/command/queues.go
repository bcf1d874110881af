package command

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/api"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/client"
)

func takeCommand(std streams) *cobra.Command {
	var in struct {
		Max  int    `json:"max"`
		Wait string `json:"wait"`
	}
	var wait time.Duration
	c := &cobra.Command{
		Use: "take QUEUE", Short: "Take firings from a queue", Args: cobra.ExactArgs(1),
		Example: "  epicycle take mails -max 10 -wait 20s",
	}
	c.Flags().IntVar(&in.Max, "max", 1, "at most so many")
	c.Flags().DurationVar(&wait, "wait", 0, "for the first one")
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) error {
		in.Wait = wait.String()
		var out struct {
			Firings []api.Firing `json:"firings"`
		}
		if err := r.client.Do(c.Context(), http.MethodPost, client.QueuePath(args[0], "take"), &in, &out); err != nil {
			return err
		}
		return r.print(&out, func() error {
			t := newTable(r.std.out, "KEY", "DUE", "ATTEMPT", "TIMEOUT", "TOKEN", "VALUE")
			for _, f := range out.Firings {
				t.row(f.Key, f.Due.Local().Format(time.RFC3339), fmt.Sprint(f.Attempt), f.Timeout, f.Token, short(string(f.Value)))
			}
			return t.end()
		})
	})
}

func doneCommand(std streams) *cobra.Command {
	c := &cobra.Command{Use: "done QUEUE TOKEN...", Short: "End firings that were taken", Args: cobra.MinimumNArgs(2)}
	return ending(std, c, "done", new(string))
}

func failCommand(std streams) *cobra.Command {
	c := &cobra.Command{Use: "fail QUEUE TOKEN...", Short: "Say that firings that were taken have failed", Args: cobra.MinimumNArgs(2)}
	reason := c.Flags().String("error", "", "why")
	return ending(std, c, "fail", reason)
}

// ending makes a command that ends firings. Its exit code is notFound unless all of them could be ended.
func ending(std streams, c *cobra.Command, what string, reason *string) *cobra.Command {
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) error {
		in := struct {
			Tokens []string `json:"tokens"`
			Error  string   `json:"error,omitempty"`
		}{args[1:], *reason}
		var out struct {
			Results []api.Result `json:"results"`
		}
		if err := r.client.Do(c.Context(), http.MethodPost, client.QueuePath(args[0], what), &in, &out); err != nil {
			return err
		}
		err := r.print(&out, func() error {
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
