package clockwork_test

import (
	"context"
	"fmt"
	"time"

	original "github.com/jonboulle/clockwork"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/adapters/clockwork"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// remind is code that takes a clock of clockwork, as gocron does.
func remind(c original.Clock, done chan<- string) {
	c.Sleep(5 * time.Minute)
	done <- "the tea is ready"
}

// A library on a mock. In production, leave out the Clock of the Config.
func ExampleNew() {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	if err != nil {
		panic(err)
	}
	defer w.Stop()

	done := make(chan string)
	go remind(clockwork.New(w), done)
	_ = m.WaitFor(context.Background(), 1) // until it sleeps
	m.AddNext()
	fmt.Println(<-done, "after", m.Elapsed())
	// Output: the tea is ready after 5m0s
}
