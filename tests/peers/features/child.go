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

	"github.com/epicycle-go/epicycle/tests/peers/contender"
)

// Environment variables of a process that runs one check.
const (
	childCheck = "FEATURES_CHECK"
	childOf    = "FEATURES_OF"
)

// longest is the longest time that a check may take. A check that takes longer counts as hanging.
const longest = 15 * time.Second

// marker precedes the outcome, because libraries print lines, too.
const marker = "outcome: "

// If the environment names a check, runIfChild runs it and ends the process.
func runIfChild() {
	name := os.Getenv(childCheck)
	if name == "" {
		return
	}
	for _, c := range checks {
		if c.name == name {
			s := &subject{Contender: contender.Named(os.Getenv(childOf))}
			tell(c.attempt(s))
			os.Exit(0)
		}
	}
	panic("features: there is no check " + name)
}

// attempt runs the check, and gives up if it takes too long.
func (c check) attempt(s *subject) outcome {
	done := make(chan outcome, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fails("panics: %v", p)
			}
		}()
		done <- c.try(s)
	}()
	select {
	case o := <-done:
		return o
	case <-time.After(longest):
		return fails("hangs while %s", s.step)
	}
}

func tell(o outcome) {
	line, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	fmt.Println(marker + string(line))
}

var errNoOutcome = errors.New("the process of the check printed no outcome")

// try runs the check in a process of its own.
func try(ctx context.Context, of contender.Contender, c check) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, longest+time.Minute)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return outcome{}, err
	}
	child := exec.CommandContext(ctx, self)
	child.Env = append(os.Environ(), childCheck+"="+c.name, childOf+"="+of.Name)
	var printed, complaint bytes.Buffer
	child.Stdout, child.Stderr = &printed, &complaint
	err = child.Run()
	if o, ok := told(printed.String()); ok {
		return o, nil
	}
	if reason := died(complaint.String()); reason != "" {
		return fails("the process dies: %s", reason), nil
	}
	return outcome{}, fmt.Errorf("%w: %s of %s: %v", errNoOutcome, c.name, of.Name, err)
}

func told(printed string) (o outcome, ok bool) {
	for line := range strings.Lines(printed) {
		if text, found := strings.CutPrefix(line, marker); found {
			return o, json.Unmarshal([]byte(text), &o) == nil
		}
	}
	return o, false
}

// died returns the reason why the Go runtime ended the process.
func died(complaint string) string {
	for line := range strings.Lines(complaint) {
		for _, word := range []string{"panic: ", "fatal error: "} {
			if strings.HasPrefix(line, word) {
				reason, _, _ := strings.Cut(strings.TrimSpace(line), " [recovered")
				return reason
			}
		}
	}
	return ""
}
