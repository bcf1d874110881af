package partition

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// An owner that can't read a schedule does not call the handler, and nothing is lost.
func TestScheduleOfALaterVersion(t *testing.T) {
	b := newBench(t)
	b.open()
	var w frame.Builder
	h := b.p.core.Head.Header
	h.Number, h.Previous = b.p.core.Head.End+1, b.p.core.Head.Checksum
	w.Start(h)
	w.Add(&frame.Op{Kind: frame.SetAt, Key: []byte("a"), Value: []byte("v"), Due: h.Time + int64(time.Minute),
		More: frame.More{Schedule: []byte("when it suits")}})
	data, _ := w.Finish()
	b.crash()
	b.NoError(b.disk.Open().Append(t.Context(), h.Number-1, data))
	b.open()
	b.mock.Add(time.Hour)
	b.Empty(b.took())
	b.NoError(b.p.All(true, func(timer state.Timer) bool {
		b.Equal("when it suits", timer.Schedule)
		b.Contains(timer.LastError, `the schedule "when it suits"`)
		return true
	}))
	b.Len(b.keys(true), 1)
}
