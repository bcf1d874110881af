package k8s_test

import (
	"context"
	"fmt"
	"time"

	original "k8s.io/utils/clock"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/adapters/k8s"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// resync is code that takes a clock of k8s.io/utils, as client-go's work queues do.
func resync(c original.Clock, done chan<- string) {
	c.Sleep(5 * time.Minute)
	done <- "resynced"
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
	go resync(k8s.New(w), done)
	_ = m.WaitFor(context.Background(), 1) // until it sleeps
	m.AddNext()
	fmt.Println(<-done, "after", m.Elapsed())
	// Output: resynced after 5m0s
}
