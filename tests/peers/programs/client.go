package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// A client is a process of its own that uses a server, so that the server's figures are the server's alone, and each has
// as many descriptors as a process may have. It gets requests on its standard input.
type client struct {
	cmd  *exec.Cmd
	stop context.CancelFunc
	in   *json.Encoder
	out  *json.Decoder
}

// request is what a client shall do. Its other fields are for that.
type request struct {
	Do        string
	Addresses []string // to connect to, in turn
	N         int      // connections
	Rounds    int      // requests on each connection
}

type answer struct {
	Address string
	N       int           // of what was done
	Took    time.Duration // for all
	Late    time.Duration // 99 % of requests took at most so long
	Expired int           // of requests, those that the server has ended when their time was over
	Failed  string
}

func startClient(ctx context.Context) (*client, error) {
	ctx, stop := context.WithCancel(ctx)
	cmd, err := task{Client: true}.command(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err = errors.Join(err, err2); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		return nil, err
	}
	return &client{cmd, stop, json.NewEncoder(in), json.NewDecoder(out)}, nil
}

// do makes the client do something, and waits until it is done.
func (c *client) do(r request) (a answer, err error) {
	if err := c.in.Encode(r); err != nil {
		return a, err
	}
	if err := c.out.Decode(&a); err != nil {
		return a, err
	}
	if a.Failed != "" {
		err = fmt.Errorf("the client can't %s: %s", r.Do, a.Failed)
	}
	return a, err
}

// close ends the client, and with it its connections.
func (c *client) close() {
	c.stop()
	_ = c.cmd.Wait()
}

// user is what a client's process keeps from request to request.
type user struct {
	dialed dialed
}

var errNothingToDo = errors.New("a client can't do this")

// serveClient is what a client's process does: it answers requests until there are no more.
func serveClient(in io.Reader, out io.Writer) error {
	var u user
	requests, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r request
		if err := requests.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		a, err := u.do(r)
		if err != nil {
			a.Failed = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

func (u *user) do(r request) (answer, error) {
	switch r.Do {
	case "dial":
		return u.dialed.dial(r.Addresses, r.N)
	case "echo":
		return u.dialed.echo(r.Rounds)
	case "get":
		return u.dialed.get(r.Rounds)
	case "serve":
		return u.serve()
	default:
		return answer{}, fmt.Errorf("%w: %s", errNothingToDo, r.Do)
	}
}
