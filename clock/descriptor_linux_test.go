package clock

import (
	"runtime/debug"
	"testing"
	"time"
)

// A reader closes its descriptor when it ends, however it does. The garbage collector,
// which would close one that was forgotten, has nothing to do with that.
func TestReaderClosesItsDescriptor(t *testing.T) {
	requireGone(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	k, _ := counted()
	a, rings := on(k)
	const brief = 5 * time.Millisecond // what is due already needs no reader

	a.Set(sinceEpoch() + brief) // the reader ends by itself
	<-rings
	requireGone(t)

	a.Set(sinceEpoch() + never/2) // while it waits
	a.Stop()
	requireGone(t)

	stopped := make(chan bool) // while it rings
	b := &preciseAlarm{keeper: k}
	b.ringer.ring = func() { b.Stop(); close(stopped) }
	b.Set(sinceEpoch() + brief)
	<-stopped
	requireGone(t)
}
