package cron

import (
	"context"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// Cron runs jobs at the times of their schedules, each in a goroutine of its own. Entries can be added and removed, and
// looked at, before it is started, while it runs and after it was stopped. All methods may be called concurrently, also
// inside jobs. New makes a Cron.
//
// The cost of adding, removing and running an entry does not depend on how many there are. A Cron that runs has a wheel
// and, while nothing is due, no goroutine. One that is stopped has nothing.
type Cron struct {
	location *time.Location // immutable, as the next four
	parser   ScheduleParser
	chain    Chain
	logger   Logger
	clock    clock.Clock // nil for the default

	mu      sync.Mutex
	nextID  EntryID // guarded by mu, as all below
	entries map[EntryID]*entry
	wheel   *hierarchy.Wheel     // nil unless the Cron runs; each Start makes one
	stopped chan struct{}        // closed by the Stop that ends the wheel
	running int                  // the number of jobs in progress
	waiting []context.CancelFunc // called when running becomes 0
}

// ScheduleParser makes Schedules of texts.
type ScheduleParser interface {
	Parse(spec string) (Schedule, error)
}

// Job is what an entry runs.
type Job interface {
	Run()
}

// FuncJob is a function as a Job.
type FuncJob func()

// Run calls f.
func (f FuncJob) Run() { f() }

// New returns a Cron that is not started. By default it reads schedules in time.Local, parses texts as ParseStandard
// does, has no wrappers around jobs, and logs errors with DefaultLogger. A panic of a job ends the process, as in any
// other goroutine, unless a wrapper such as Recover recovers it.
func New(opts ...Option) *Cron {
	c := &Cron{location: time.Local, parser: standardParser, logger: DefaultLogger, entries: map[EntryID]*entry{}}
	for _, option := range opts {
		option(c)
	}
	return c
}

// AddFunc adds a function, which runs at the times that spec describes. The error is that of the parser.
func (c *Cron) AddFunc(spec string, cmd func()) (EntryID, error) {
	return c.AddJob(spec, FuncJob(cmd))
}

// AddJob adds a job, which runs at the times that spec describes. The error is that of the parser.
func (c *Cron) AddJob(spec string, cmd Job) (EntryID, error) {
	schedule, err := c.parser.Parse(spec)
	if err != nil {
		return 0, err
	}
	return c.Schedule(schedule, cmd), nil
}

// Schedule adds a job, which runs at the times of schedule, in the wrappers of WithChain.
func (c *Cron) Schedule(schedule Schedule, cmd Job) EntryID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nextID++
	e := &entry{cron: c, Entry: Entry{ID: c.nextID, Schedule: schedule, Job: cmd, WrappedJob: c.chain.Then(cmd)}}
	c.entries[e.ID] = e
	if c.wheel != nil {
		e.begin("added", c.now())
	}
	return e.ID
}

// Location returns the time zone in which schedules without one are read.
func (c *Cron) Location() *time.Location { return c.location }

// Remove removes an entry: no further run of it begins. A run in progress goes on.
func (c *Cron) Remove(id EntryID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[id]; e != nil {
		delete(c.entries, id)
		e.end()
	}
	if c.wheel != nil {
		c.logger.Info("removed", "entry", id)
	}
}

// Start starts the Cron, unless it runs already.
func (c *Cron) Start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.start()
}

// Run starts the Cron and waits until it is stopped. If it runs already, Run returns at once.
func (c *Cron) Run() {
	c.mu.Lock()
	started, stopped := c.start(), c.stopped
	c.mu.Unlock()
	if started {
		<-stopped
	}
}

// start reports whether the Cron did not run yet. mu must be held.
func (c *Cron) start() bool {
	if c.wheel != nil {
		return false
	}
	// With Inline, runs begin in their order. What the wheel calls only starts the jobs.
	w, err := hierarchy.New(hierarchy.Config{Clock: c.clock, Executor: hierarchy.Inline, Shards: 1})
	if err != nil {
		panic("cron: " + err.Error()) // the Config is valid
	}
	c.wheel, c.stopped = w, make(chan struct{})
	c.logger.Info("start")
	now := c.now()
	for _, e := range c.sorted() {
		e.begin("schedule", now)
	}
	return true
}

// Stop stops the Cron if it runs: no further run begins. The context is done when no job is in progress any more. The
// entries stay, and Start makes them run again.
func (c *Cron) Stop() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wheel != nil {
		c.wheel.Stop()
		for _, e := range c.entries {
			e.end()
		}
		c.wheel = nil
		close(c.stopped)
		c.logger.Info("stop")
	}
	ctx, cancel := context.WithCancel(context.Background())
	if c.running == 0 {
		cancel()
	} else {
		c.waiting = append(c.waiting, cancel)
	}
	return ctx
}

// now returns the time in the zone of the Cron, which must run. mu must be held.
func (c *Cron) now() time.Time { return c.wheel.Now().Round(0).In(c.location) }

// startJob runs a job that was counted in running: in a goroutine of its own or, on a mock clock, within the call.
func (c *Cron) startJob(j Job) {
	run := func() {
		defer c.jobEnded()
		j.Run()
	}
	if clock.IsMock(c.clock) {
		run()
		return
	}
	go run()
}

func (c *Cron) jobEnded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running--; c.running > 0 {
		return
	}
	for _, cancel := range c.waiting {
		cancel()
	}
	c.waiting = nil
}
