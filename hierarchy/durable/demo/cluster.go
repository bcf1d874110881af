package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

const (
	serverCount  = 3
	workerCount  = 3 // at the beginning
	clusterLimit = 3 * time.Minute
)

var errClusterLimit = errors.New("the demonstration did not end within three minutes")

// clusterDemo is the demonstration of several workers that share timers on several servers.
type clusterDemo struct {
	*terminal.Screen
	options
	*account
	ctx     context.Context
	servers []*servers.Process
	workers []*clusterWorker // in the order of account.lives
	says    chan said
	running int // workers that have not ended
	begun   time.Time
	shown   string    // the owners in the last line
	second  time.Time // when the last line was shown
	fired   int       // how many firings there were before second, and since
	rate    float64   // recent firings per second
	looked  time.Time // when recovered last looked
	events  []moment

	finishing bool
}

// clusterWorker is one of the workers.
type clusterWorker struct {
	*child.Process
	id     string // as in the name of an owner
	owners string // the owners of all partitions, as far as the worker knows
	silent bool   // the worker is stopped or has ended
	killed bool
}

// moment is when something happened.
type moment struct {
	text string
	at   time.Time
}

// give runs the demonstration. It also returns an error if a promise did not hold.
func (d *clusterDemo) give(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, clusterLimit, errClusterLimit)
	defer cancel()
	d.ctx, d.account, d.says, d.begun = ctx, newAccount(), make(chan said, 1000), time.Now()
	defer d.end(cancel)
	err := d.play()
	switch {
	case errors.Is(context.Cause(ctx), errClusterLimit):
		return errClusterLimit
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case err != nil:
		return err
	}
	return d.report(time.Since(d.begun))
}

func (d *clusterDemo) play() error {
	d.welcome()
	if err := d.startServers(); err != nil {
		return err
	}
	for range workerCount {
		if err := d.startWorker(); err != nil {
			return err
		}
	}
	for _, s := range d.script() {
		if err := d.do(s); err != nil {
			return err
		}
	}
	return nil
}

func (d *clusterDemo) welcome() {
	d.Line(d.Paint(terminal.Bold, "Epicycle: timers of several processes, on several servers"))
	d.Line("")
	d.Say(`Three servers keep eight logs, each of them three times. Three workers share the logs, and set
		hundreds of timers a second, due in %s to %s. Any worker sets any timer, and the owner of its log
		fires it. One worker is killed, one is stopped for a while, one server is killed, and one worker
		ends in order. The lease of a worker is %s.`, terminal.Span(soonest), terminal.Span(latest), terminal.Span(workerLease))
	d.Line("")
}

func (d *clusterDemo) startServers() error {
	cfgs, err := servers.Cluster(serverCount, func(i int) string { return filepath.Join(d.dir, fmt.Sprint("server", i+1)) })
	if err != nil {
		return err
	}
	d.servers, err = servers.SpawnAll(cfgs)
	return err
}

func (d *clusterDemo) urls() string {
	var all []string
	for _, s := range d.servers {
		all = append(all, s.URL())
	}
	return strings.Join(all, ",")
}

// startWorker starts the next worker.
func (d *clusterDemo) startWorker() error {
	p, err := start(d.ctx, childConfig{Number: len(d.workers) + 1, URLs: d.urls()}, d.says)
	if err != nil {
		return err
	}
	d.begin()
	d.workers = append(d.workers, &clusterWorker{Process: p, id: fmt.Sprint(p.ID())})
	d.running++
	return nil
}

// end ends all processes, and waits for them.
func (d *clusterDemo) end(cancel func()) {
	cancel()
	for d.running > 0 {
		if s := <-d.says; !s.more {
			d.running--
		}
	}
	for _, s := range d.servers {
		s.Kill()
	}
}

// hear handles a record of a worker, or the end of its process.
func (d *clusterDemo) hear(s said) error {
	w := d.workers[s.process]
	if !s.more {
		d.running--
		w.silent = true
		return howEnded(w.Process, w.killed)
	}
	d.note(s.process, s.Record)
	switch s.Kind {
	case judge.IsOwners:
		w.owners = s.Value
	case judge.IsFire:
		d.fired++
	}
	return nil
}

// owners returns the number of the worker that owns each partition, as the first worker that runs has reported it.
// A partition without an owner has "·".
func (d *clusterDemo) owners() []string {
	for _, w := range d.workers {
		if w.silent || w.owners == "" {
			continue
		}
		var all []string
		for id := range strings.SplitSeq(w.owners, ",") {
			all = append(all, d.numberOf(id))
		}
		return all
	}
	return nil
}

func (d *clusterDemo) numberOf(process string) string {
	i := slices.IndexFunc(d.workers, func(w *clusterWorker) bool { return w.id == process })
	if i < 0 {
		return "·"
	}
	return fmt.Sprint(i + 1)
}

// share reports whether these workers own all partitions, and each of them at least one.
func (d *clusterDemo) share(workers ...string) bool {
	owners := d.owners()
	for _, o := range owners {
		if !slices.Contains(workers, o) {
			return false
		}
	}
	for _, w := range workers {
		if !slices.Contains(owners, w) {
			return false
		}
	}
	return len(owners) > 0
}
