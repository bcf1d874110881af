package cron

import (
	"fmt"
	"runtime/debug"
	"time"
)

// JobWrapper makes a job of another one, which it calls.
type JobWrapper func(Job) Job

// Chain is a list of JobWrappers that are applied to jobs. NewChain makes one.
type Chain struct {
	wrappers []JobWrapper
}

// NewChain returns a Chain of these JobWrappers.
func NewChain(c ...JobWrapper) Chain { return Chain{c} }

// Then applies the wrappers to j. NewChain(a, b).Then(j) is a(b(j)).
func (c Chain) Then(j Job) Job {
	for i := len(c.wrappers) - 1; i >= 0; i-- {
		j = c.wrappers[i](j)
	}
	return j
}

// Recover returns a wrapper that recovers panics of jobs and passes them to logger, with the stack.
func Recover(logger Logger) JobWrapper {
	return func(j Job) Job {
		return FuncJob(func() {
			defer func() {
				r := recover()
				if r == nil {
					return
				}
				err, ok := r.(error)
				if !ok {
					err = fmt.Errorf("%v", r)
				}
				logger.Error(err, "panic", "stack", "...\n"+string(debug.Stack()))
			}()
			j.Run()
		})
	}
}

// DelayIfStillRunning returns a wrapper that makes a run of a job wait until the run before has returned. Delays of more
// than a minute are logged.
func DelayIfStillRunning(logger Logger) JobWrapper {
	return func(j Job) Job {
		free := newToken()
		return FuncJob(func() {
			start := time.Now()
			<-free
			defer free.giveBack()
			if d := time.Since(start); d > time.Minute {
				logger.Info("delay", "duration", d)
			}
			j.Run()
		})
	}
}

// SkipIfStillRunning returns a wrapper that skips a run of a job if the run before has not returned, and logs that.
func SkipIfStillRunning(logger Logger) JobWrapper {
	return func(j Job) Job {
		free := newToken()
		return FuncJob(func() {
			select {
			case <-free:
				defer free.giveBack()
				j.Run()
			default:
				logger.Info("skip")
			}
		})
	}
}

// A token is held by the run of a job that is in progress, and in the channel otherwise. It is no mutex, because a
// goroutine that waits for one keeps a testing/synctest bubble from going on.
type token chan struct{}

func newToken() token {
	t := make(token, 1)
	t.giveBack()
	return t
}

func (t token) giveBack() { t <- struct{}{} }
