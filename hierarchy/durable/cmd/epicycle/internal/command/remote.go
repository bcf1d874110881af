package command

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/api"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/client"
)

// remote has the fields that all commands need that send requests to a server.
type remote struct {
	std    streams
	server string
	json   bool
	client *client.Client
}

// remoteCommand makes a command that sends requests to a server.
func remoteCommand(std streams, c *cobra.Command, run func(*remote, *cobra.Command, []string) error) *cobra.Command {
	r := &remote{std: std}
	c.Flags().StringVar(&r.server, "server", "", "the `URL` of the server (default $EPICYCLE_SERVER, or http://127.0.0.1:8421); $EPICYCLE_TOKEN is the token")
	c.Flags().BoolVar(&r.json, "json", false, "print JSON")
	c.Flags().SortFlags = false
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if r.client, err = dial(r.server, 2); err != nil {
			return err
		}
		defer r.client.Close()
		return fault(run(r, c, args))
	}
	return c
}

// dial returns a client of the server that the argument names or, if that is empty, of the server that the environment
// names. If neither names one, it is the default address on this machine.
func dial(server string, conns int) (*client.Client, error) {
	if server == "" {
		server = os.Getenv("EPICYCLE_SERVER")
	}
	if server == "" {
		server = "http://127.0.0.1:8421"
	}
	c, err := client.New(server, os.Getenv("EPICYCLE_TOKEN"), conns)
	if err != nil {
		return nil, usageError("-server: %w", err)
	}
	return c, nil
}

// fault returns an error of the server or of the network with its exit code.
func fault(err error) error {
	var known *exit
	var p *api.Problem
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.As(err, &p) && p.Status == http.StatusNotFound:
		return &exit{notFound, err}
	case errors.As(err, &p) && (p.Status == http.StatusBadRequest || p.Status == http.StatusRequestEntityTooLarge):
		return &exit{usage, err}
	}
	return &exit{failed, err}
}

// print prints v as JSON with -json, and otherwise calls text.
func (r *remote) print(v any, text func() error) error {
	if !r.json {
		return text()
	}
	enc := json.NewEncoder(r.std.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
