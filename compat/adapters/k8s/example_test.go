package k8s_test

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/adapters/k8s"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// A work queue on a mock. In production, leave out the Clock of the Config.
func ExampleNew() {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	if err != nil {
		panic(err)
	}
	defer w.Stop()

	q := workqueue.NewTypedDelayingQueueWithConfig(
		workqueue.TypedDelayingQueueConfig[string]{Clock: k8s.New(w)})
	defer q.ShutDown()
	q.AddAfter("pod", 5*time.Minute)
	_ = m.WaitFor(context.Background(), 2) // until the queue has set its ticker and a timer
	m.Add(5 * time.Minute)
	item, _ := q.Get()
	fmt.Println(item, "after", m.Elapsed())
	// Output: pod after 5m0s
}
