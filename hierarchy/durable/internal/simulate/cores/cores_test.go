package cores

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/steps"
	"github.com/epicycle-go/epicycle/tests/long"
)

var histories, first = steps.Flags(long.Or(300, 20000))

func TestMain(m *testing.M) { leak.Main(m) }

// history returns that of a seed.
func history(seed uint64) steps.History { return steps.Draw(seed, 2+int(seed%2), 400) }

// Whatever happens to owners, their log and their clocks: answers are those of a plain map of timers, and true after any
// failure; a request is committed once at most; each timer fires, in time, unless it was removed; and each owner has
// counted what it has written.
func TestHistories(t *testing.T) {
	var total steps.Tally
	for i := range uint64(*histories) {
		steps.Check(t, *first+i, history(*first+i), func(h steps.History, trace *steps.Trace) error {
			w := newWorld(h, trace, limitsOf(*first+i))
			defer func() { total.Add(w.tally()) }()
			return w.run(h)
		})
	}
	t.Log(total)
}

// The same seed has the same trace.
func TestSameTrace(t *testing.T) {
	for seed := range uint64(20) {
		require.NoError(t, history(seed).Same(func(h steps.History, trace *steps.Trace) error {
			return newWorld(h, trace, limitsOf(seed)).run(h)
		}))
	}
}
