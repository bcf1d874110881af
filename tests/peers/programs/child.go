package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// childTask is an environment variable of a process that runs one program in one way, or that is the client of one.
const childTask = "EPICYCLE_PROGRAMS_TASK"

// task is what such a process does.
type task struct {
	Client       bool
	Program, Way string
	Size         size
}

// attempts is how often a program is tried.
const attempts = 4

// longest is the longest time that a run may take.
const longest = 2 * time.Minute

var (
	errNoWay = errors.New("there is no such program, or it has no such way")
	errWork  = errors.New("not all work was done, or too much")
	errSlow  = errors.New("something expired that was still used")
)

// If the environment has a task, runIfChild does it and ends the process.
func runIfChild() {
	text := os.Getenv(childTask)
	if text == "" {
		return
	}
	var t task
	err := json.Unmarshal([]byte(text), &t)
	if err == nil && t.Client {
		err = serveClient(os.Stdin, os.Stdout)
	} else if err == nil {
		err = t.run()
	}
	if err != nil {
		fail(err, 1)
	}
	os.Exit(0)
}

// run runs the program and prints its figures.
func (t task) run() error {
	p, _ := named(t.Program)
	w, ok := p.way(t.Way)
	if !ok {
		return errNoWay
	}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	f, err := w.run(ctx, t.Size)
	if err != nil {
		return err
	}
	if t.Size.N = f.N; p.work != nil && f.Work != p.work(t.Size) {
		return fmt.Errorf("%w: %d, not %d", errWork, f.Work, p.work(t.Size))
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

// do runs a program in a process of its own. If the machine is so busy that things expire while they are still used, it
// tries again with twice the lifetime.
func (t task) do(ctx context.Context) (f result, err error) {
	for range attempts {
		if f, err = t.try(ctx); !errors.Is(err, errSlow) {
			break
		}
		t.Size.Lifetime *= 2
	}
	return f, err
}

func (t task) try(ctx context.Context) (f result, err error) {
	child, err := t.command(ctx)
	if err != nil {
		return f, err
	}
	var printed, complaint bytes.Buffer
	child.Stdout, child.Stderr = &printed, &complaint
	if err := child.Run(); strings.Contains(complaint.String(), errSlow.Error()) {
		return f, errSlow
	} else if err != nil {
		return f, fmt.Errorf("%s, %s: %w: %s", t.Program, t.Way, err, last(complaint.Bytes()))
	}
	return f, json.Unmarshal(printed.Bytes(), &f)
}

// command is a process that does the task.
func (t task) command(ctx context.Context) (*exec.Cmd, error) {
	self, err := t.executable(ctx)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	child := exec.CommandContext(ctx, self)
	child.Env = append(os.Environ(), childTask+"="+string(text))
	return child, nil
}

// executable is this program, or the same built with the copy of a library.
func (t task) executable(ctx context.Context) (string, error) {
	p, _ := named(t.Program)
	if w, ok := p.way(t.Way); ok && w.ours && p.module != "" {
		return built.with(ctx, p.module)
	}
	return os.Executable()
}

// last returns the end of what a process has complained about.
func last(text []byte) []byte { return bytes.TrimSpace(text[max(0, len(text)-2000):]) }
