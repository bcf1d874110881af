package wakeup

import (
	"testing"
	"time"
)

// BenchmarkAim aims a timerfd, as each alarm does that becomes the first.
func BenchmarkAim(b *testing.B) {
	fd, err := openTimerfd()
	if err != nil {
		b.Fatal(err)
	}
	defer fd.close()
	b.ReportAllocs()
	at := sinceEpoch() + time.Hour
	for b.Loop() {
		at++
		if err := fd.aim(at); err != nil {
			b.Fatal(err)
		}
	}
}
