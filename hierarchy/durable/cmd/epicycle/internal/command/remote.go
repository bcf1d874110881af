package command

import (
	"crypto/tls"
	"crypto/x509"
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
	c.Flags().StringVar(&r.server, "server", "", "the `URL` of the server (default $EPICYCLE_SERVER, or http://127.0.0.1:8421); $EPICYCLE_TOKEN is the token, $EPICYCLE_CA, $EPICYCLE_CERT and $EPICYCLE_KEY are files for TLS")
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
	config, err := clientTLS(os.Getenv("EPICYCLE_CA"), os.Getenv("EPICYCLE_CERT"), os.Getenv("EPICYCLE_KEY"))
	if err != nil {
		return nil, err
	}
	c, err := client.New(server, os.Getenv("EPICYCLE_TOKEN"), conns, config)
	if err != nil {
		return nil, usageError("-server: %w", err)
	}
	return c, nil
}

// clientTLS returns how a client speaks TLS: which authority must have signed the server's certificate, if not one that
// this machine knows, and its own certificate and key, if it has one. It returns nil if no file is named.
func clientTLS(ca, cert, key string) (*tls.Config, error) {
	if ca == "" && cert == "" && key == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return nil, usageError("EPICYCLE_CA: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, usageError("EPICYCLE_CA: there is no certificate in %s", ca)
		}
	}
	if cert != "" || key != "" {
		own, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, usageError("EPICYCLE_CERT and EPICYCLE_KEY: %w", err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
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
