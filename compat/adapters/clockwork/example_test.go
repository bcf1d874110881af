package clockwork_test

import (
	"context"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/adapters/clockwork"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// gocron on a mock. In production, leave out the Clock of the Config.
func ExampleNew() {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	if err != nil {
		panic(err)
	}
	defer w.Stop()

	s, err := gocron.NewScheduler(gocron.WithClock(clockwork.New(w)), gocron.WithLocation(time.UTC))
	if err != nil {
		panic(err)
	}
	ran := make(chan time.Duration)
	_, err = s.NewJob(gocron.CronJob("30 6 * * *", false), gocron.NewTask(func() { ran <- m.Elapsed() }))
	if err != nil {
		panic(err)
	}
	s.Start()
	_ = m.WaitFor(context.Background(), 1) // until gocron has set its timer
	m.AddNext()
	fmt.Println("ran at", <-ran)
	_ = s.Shutdown()
	// Output: ran at 6h30m0s
}
