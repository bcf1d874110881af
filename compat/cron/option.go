package cron

import (
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// Option changes a Cron that New makes.
type Option func(*Cron)

// WithLocation sets the time zone in which schedules without one are read. The default is time.Local.
func WithLocation(loc *time.Location) Option { return func(c *Cron) { c.location = loc } }

// WithSeconds sets a parser with six fields, of which the first is for seconds.
func WithSeconds() Option {
	return WithParser(NewParser(Second | Minute | Hour | Dom | Month | Dow | Descriptor))
}

// WithParser sets the parser for the texts of AddFunc and AddJob.
func WithParser(p ScheduleParser) Option { return func(c *Cron) { c.parser = p } }

// WithChain sets wrappers for all jobs that are added.
func WithChain(wrappers ...JobWrapper) Option {
	return func(c *Cron) { c.chain = NewChain(wrappers...) }
}

// WithLogger sets the Logger of the Cron. Wrappers have Loggers of their own.
func WithLogger(logger Logger) Option { return func(c *Cron) { c.logger = logger } }

// WithClock sets the clock that the Cron goes by. The default is clock.Precise(). On a *clock.Mock, jobs run inside the
// calls that move it, one after the other, so a job must not wait for another one, nor for a later time. robfig/cron has
// no such option.
func WithClock(cl clock.Clock) Option { return func(c *Cron) { c.clock = cl } }
