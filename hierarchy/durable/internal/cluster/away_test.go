package cluster

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// While the leases have ended and nobody has deleted them, calls wait: those for the logs of their own process, those
// for others' logs, and reads.
func TestCallsWaitForTheLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.openSteady(), w.openSteady() // each renews in time when it can again, else the other deletes its lease
	w.eventually("shared", func() bool { return a.owns() == partitions/2 && b.owns() == partitions/2 })
	for _, key := range []string{"key0", "key1", "key2", "key3"} {
		a.set(key, "old", time.Hour)
	}
	a.store.Cut(true)
	b.store.Cut(true)
	w.eventually("ended", func() bool { return a.owns()+b.owns() == 0 })
	answers := make(chan error, 2*partitions)
	for _, key := range []string{"key0", "key1", "key2", "key3"} {
		go func() { _, _, err := a.do(frame.Set, key, "new", time.Hour); answers <- err }()
		go func() { _, _, _, err := a.Get(t.Context(), of(key), []byte(key)); answers <- err }()
	}
	select {
	case err := <-answers:
		w.Fail("answered", "%v", err)
	case <-time.After(lease):
	}
	a.store.Cut(false)
	b.store.Cut(false)
	for range cap(answers) {
		w.NoError(<-answers)
	}
	w.Equal(map[string]string{"key0": "new", "key1": "new", "key2": "new", "key3": "new"}, a.keys())
}
