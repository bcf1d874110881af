package partition

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// The largest call has room beside what trimming writes again, with the answer that is remembered.
func TestLargestCallFitsBesideTrimming(t *testing.T) {
	for _, id := range []core.RequestID{{}, {Caller: 1, Serial: 2}} {
		b := newBench(t)
		b.open()
		p, c := b.p, &core.Call{Request: id} // the writer has nothing to do
		p.writer.startDraft()
		for i := range core.KeepOps {
			p.writer.draft.Add(&frame.Op{Kind: frame.Keep, Key: fmt.Append(nil, i)})
		}
		for i := range core.MaxOps {
			c.Ops = append(c.Ops, core.Op{Kind: frame.Set, Key: fmt.Append(nil, i)})
		}
		b.begun(c)
		b.True(p.writer.draft.HasRoomFor(c, nil), "%v", id)
	}
}

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
