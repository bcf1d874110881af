package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

const (
	processes = 3           // the last one is not killed
	leastSet  = 100         // how many timers a process sets before it is killed, however slow it is
	limit     = time.Minute // a demo that takes longer hangs
)

var errLimit = errors.New("the processes did not end within a minute")

// demo is one demonstration.
type demo struct {
	*terminal.Screen
	options
	*account
	says chan said
	back []time.Duration // how long it took from each kill until the next process had read the timers
	died time.Time       // when a process was last killed
}

// give runs the demo. It also returns an error if a promise did not hold.
func (d *demo) give(ctx context.Context) error {
	begun := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errLimit)
	defer cancel()
	d.account, d.says = newAccount(), make(chan said, 1000)
	d.welcome()
	for i := range processes {
		if err := d.run(ctx, i); err != nil {
			return err
		}
	}
	return d.report(time.Since(begun))
}

func (d *demo) welcome() {
	d.Line(d.Paint(terminal.Bold, "Epicycle: timers that outlive their process"))
	d.Line("")
	d.Say(`A process sets thousands of timers with values, due in %s to %s, and removes each
		tenth of them again. In the middle of it, it is killed with kill -9. Another process
		goes on with what is in the directory. This happens twice. All that the processes
		were told is written down here: what was acknowledged must fire, and what was removed
		must not.`, terminal.Span(soonest), terminal.Span(latest))
	d.Line("")
}

// run runs process i to its end.
func (d *demo) run(ctx context.Context, i int) error {
	p, err := start(ctx, childConfig{Number: i + 1, Dir: d.dir}, d.says)
	if err != nil {
		return err
	}
	w := &watch{demo: d, process: p, life: d.begin(), last: i == processes-1}
	err = w.follow()
	switch {
	case errors.Is(context.Cause(ctx), errLimit):
		return errLimit
	case ctx.Err() != nil:
		return errors.New("interrupted")
	}
	return err
}

// broken returns an error for promises that did not hold, or nil.
func broken(all []string) error {
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("this must never happen: %s", strings.Join(all, "; "))
}
