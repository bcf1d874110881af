package partition

import (
	"fmt"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// The largest call has room beside what trimming writes again, with the answer that is remembered.
func TestLargestCallFitsBesideTrimming(t *testing.T) {
	for _, id := range []RequestID{{}, {Caller: 1, Serial: 2}} {
		b := newBench(t)
		b.open()
		p, c := b.p, &Call{Request: id} // the writer has nothing to do
		p.draft.start(p.head, p.Now())
		for i := range keepOps {
			p.draft.Add(&frame.Op{Kind: frame.Keep, Key: fmt.Append(nil, i)})
		}
		for i := range MaxOps {
			c.Asks = append(c.Asks, Ask{Kind: frame.Set, Key: fmt.Append(nil, i)})
		}
		c.begin(0)
		b.True(p.fits(&item{kind: asked, call: c}), "%v", id)
	}
}
