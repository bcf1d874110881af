package recipes

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// The Configs of docs/choosing.md.
var (
	timeouts = hierarchy.Config{}
	callers  = hierarchy.Config{Executor: hierarchy.Pool(64), MaxQueued: 10_000}
	pacer    = hierarchy.Config{Precision: 50 * time.Microsecond, Executor: hierarchy.Inline}
	exact    = hierarchy.Config{
		Clock:     clock.Spinning(150 * time.Microsecond),
		Precision: time.Microsecond,
		Executor:  hierarchy.Inline,
	}
	lazy = hierarchy.Config{Precision: 100 * time.Millisecond, Clock: clock.System()}
)

func Example_configs() {
	for _, cfg := range []hierarchy.Config{timeouts, callers, pacer, exact, lazy} {
		w, err := hierarchy.New(cfg)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fired := make(chan bool)
		_, err = w.AfterFunc(time.Millisecond, func() { close(fired) })
		<-fired
		fmt.Println(err)
		w.Stop()
	}
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// <nil>
	// <nil>
}
