package partition

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What trimming writes again fits into the messages of the log, however small these are.
func TestTrimmingFitsIntoSmallMessages(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 1 << 10
	b.open()
	b.log.Max = 64 << 10
	for i, size := range []int{25_000, 57_000, 31_000, 60_000, 100} {
		b.set(fmt.Sprint("live ", i), strings.Repeat("v", size), time.Hour)
	}
	for range 20 {
		b.set("again", strings.Repeat("v", 30_000), time.Hour)
		b.settled()
	}
	b.Positive(b.p.Stats().Trimmed)
	b.Len(b.keys(false), 6)
}
