package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// A node is a process that has opened a system, as a worker or a caller. It reads orders, one a line, and answers
// each with a line.

type nodeRole struct {
	System string
	Place  place
	Works  bool
	Record string // path of the file of events
}

type order struct {
	Load    *load // load to run; nil if the order asks for the number of pending timers
	Pending bool
}

type answer struct {
	Err     string
	Load    loaded
	Pending int
}

// answerMark precedes each answer, since libraries print lines, too.
const answerMark = "answer: "

const openTimeout = time.Minute

func (r nodeRole) run(in io.Reader, out io.Writer) error {
	sys, err := named(r.System)
	if err != nil {
		return err
	}
	rec, err := openRecorder(r.Record)
	if err != nil {
		return err
	}
	defer rec.file.Close()
	s, err := r.open(sys, rec)
	if err != nil {
		return err
	}
	say(out, answer{})
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return err
		}
		say(out, o.do(s, rec))
	}
	return s.Close()
}

// open opens the system. A server that was just started again may not be ready, so open tries again.
func (r nodeRole) open(sys system, rec recorder) (store, error) {
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	var handle func(key string)
	if r.Works {
		handle = func(key string) {
			now := time.Now()
			i, err := indexOf(key)
			if err == nil {
				err = rec.add(event{Kind: fired, Key: i, At: now.UnixNano()})
			}
			if err != nil {
				panic(err)
			}
		}
	}
	for {
		s, err := sys.Open(ctx, r.Place, handle)
		if err == nil {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("open: %w", err)
		case <-time.After(readyInterval):
		}
	}
}

func (o order) do(s store, rec recorder) (a answer) {
	var err error
	if o.Load != nil {
		a.Load, err = o.Load.run(s, rec)
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
		defer cancel()
		a.Pending, err = s.Pending(ctx)
	}
	if err != nil {
		a.Err = err.Error()
	}
	return a
}

func say(out io.Writer, a answer) {
	text, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(out, "%s%s\n", answerMark, text)
}

// heard parses a line of a node's output. ok is false if the line is not an answer.
func heard(line string) (a answer, ok bool) {
	text, found := strings.CutPrefix(line, answerMark)
	return a, found && json.Unmarshal([]byte(text), &a) == nil
}
