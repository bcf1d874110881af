package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// This program starts itself again as workers, callers and NATS servers.

// roleVariable is the environment variable with the role of the process.
const roleVariable = "DURABLEPEERS_ROLE"

// role has one field that is not nil.
type role struct {
	Nats *natsRole
	Node *nodeRole
}

// If the environment names a role, runIfChild runs it and ends the process.
func runIfChild() {
	text := os.Getenv(roleVariable)
	if text == "" {
		return
	}
	var r role
	err := json.Unmarshal([]byte(text), &r)
	switch {
	case err != nil:
	case r.Nats != nil:
		err = r.Nats.run(inputEnds())
	default:
		err = r.Node.run(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// inputEnds is closed when the process that started this one ends, or closes its end of the pipe.
func inputEnds() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	return ended
}

// command returns this program in a role.
func (r *role) command() (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), roleVariable+"="+string(text))
	return c, nil
}
