package main

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// idleWays are the ways to close idle sessions, for a program that runs them.
func idleWays(run func(newTimeouts) func(context.Context, size) (result, error)) []way {
	return []way{
		{"SetReadDeadline", false, run(newReadDeadlines)},
		{"time.AfterFunc, Reset", false, run(newAfterFuncs)},
		{"Wheel.NewIdle, Touch", true, run(newIdles)},
		{"Keyed.Set, Move", true, run(newKeyedTimeouts)},
	}
}

// readDeadlines sets a deadline before each read.
type readDeadlines struct{ *sessions }

func newReadDeadlines(s *sessions) (timeouts, error) { return readDeadlines{s}, nil }

func (r readDeadlines) begin(c *session) error { return r.touch(c) }

func (r readDeadlines) touch(c *session) error {
	due := time.Duration(c.last.Load()) + r.idle
	return c.conn.SetReadDeadline(r.start.Add(due))
}

func (r readDeadlines) stop() {}

// afterFuncs has a timer of package time for each session.
type afterFuncs struct{ *sessions }

func newAfterFuncs(s *sessions) (timeouts, error) { return afterFuncs{s}, nil }

func (a afterFuncs) begin(c *session) error {
	c.timer = time.AfterFunc(a.idle, func() { a.expire(c) })
	return nil
}

func (a afterFuncs) touch(c *session) error {
	c.timer.Reset(a.idle)
	return nil
}

func (a afterFuncs) stop() {}

// idles has an Idle for each session.
type idles struct {
	*sessions
	wheel *hierarchy.Wheel
}

func newIdles(s *sessions) (timeouts, error) {
	w, err := hierarchy.New(hierarchy.Config{})
	return idles{s, w}, err
}

func (i idles) begin(c *session) (err error) {
	c.idle, err = i.wheel.NewIdle(i.sessions.idle, func() { i.expire(c) })
	return err
}

func (i idles) touch(c *session) error {
	c.idle.Touch()
	return nil
}

func (i idles) stop() { i.wheel.Stop() }

// keyedTimeouts has a timer with the key of each session.
type keyedTimeouts struct {
	*sessions
	wheel *hierarchy.Keyed[int, *session]
}

func newKeyedTimeouts(s *sessions) (timeouts, error) {
	w, err := hierarchy.NewKeyed(hierarchy.Config{}, func(_ int, c *session) { s.expire(c) })
	return keyedTimeouts{s, w}, err
}

func (k keyedTimeouts) begin(c *session) error { return k.wheel.Set(c.id, c, k.idle) }

func (k keyedTimeouts) touch(c *session) error {
	_, err := k.wheel.Move(c.id, k.idle)
	return err
}

func (k keyedTimeouts) stop() { k.wheel.Stop() }
