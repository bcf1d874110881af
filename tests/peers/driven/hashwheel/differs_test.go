package hashwheel

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server/thw"
	"github.com/stretchr/testify/require"
)

// The tests in this file show where the two differ.

// TestOneEntryForASequence: thw keeps a second entry if a sequence is added again with an
// expiry in another second.
func TestOneEntryForASequence(t *testing.T) {
	for w, entries := range map[wheel]uint64{thw.NewHashWheel(): 2, NewHashWheel(): 1} {
		require.NoError(t, w.Add(1, 0))
		require.NoError(t, w.Add(1, int64(time.Second)))
		require.Equal(t, entries, w.Count())
	}
}

// TestAnotherExpiry: thw takes an expiry of the same second, in this turn of its wheel or in
// another, for that of the entry.
func TestAnotherExpiry(t *testing.T) {
	const turn = int64(4096 * time.Second)
	for w, want := range map[wheel]error{thw.NewHashWheel(): nil, NewHashWheel(): thw.ErrTaskNotFound} {
		require.NoError(t, w.Add(1, 5))
		require.Equal(t, want, w.Remove(1, 6+turn))
	}
}

// TestNextAfterRemove: thw finds out what comes next when something has expired.
func TestNextAfterRemove(t *testing.T) {
	now := time.Now().Add(time.Hour).UnixNano()
	later := now + int64(time.Minute)
	for w, next := range map[wheel]int64{thw.NewHashWheel(): now, NewHashWheel(): later} {
		require.NoError(t, w.Add(1, now))
		require.NoError(t, w.Add(2, later))
		require.NoError(t, w.Remove(1, now))
		require.Equal(t, next, w.GetNextExpiration(math.MaxInt64))
	}
}

// TestDecodeReplaces: thw goes on counting what was there before.
func TestDecodeReplaces(t *testing.T) {
	none := NewHashWheel().Encode(0)
	for w, count := range map[wheel]uint64{thw.NewHashWheel(): 1, NewHashWheel(): 0} {
		require.NoError(t, w.Add(1, 1))
		_, err := w.Decode(none)
		require.NoError(t, err)
		require.Equal(t, count, w.Count())
		require.EqualValues(t, math.MaxInt64, w.GetNextExpiration(math.MaxInt64))
	}
}

// What follows is the same in both.

// TestCallbackAddsAgain: an entry that its callback moves to another second stays.
func TestCallbackAddsAgain(t *testing.T) {
	future := time.Now().Add(time.Hour).UnixNano()
	for _, w := range []wheel{thw.NewHashWheel(), NewHashWheel()} {
		require.NoError(t, w.Add(1, 0))
		w.ExpireTasks(func(seq uint64, expires int64) bool {
			require.NoError(t, w.Update(seq, expires, future))
			return true
		})
		require.EqualValues(t, 1, w.Count())
		require.NoError(t, w.Remove(1, future))
	}
}

// TestCallbackChangesEntries removes, updates and adds entries while they are offered.
func TestCallbackChangesEntries(t *testing.T) {
	future := time.Now().Add(time.Hour).UnixNano()
	for _, w := range []wheel{thw.NewHashWheel(), NewHashWheel()} {
		for seq := range uint64(4) {
			require.NoError(t, w.Add(seq, int64(seq)*int64(time.Second)))
		}
		w.ExpireTasks(func(seq uint64, expires int64) bool {
			switch seq {
			case 0:
				require.NoError(t, w.Remove(seq, expires))
			case 1:
				require.NoError(t, w.Update(seq, expires, future))
			case 2:
				require.NoError(t, w.Remove(seq, expires))
				require.NoError(t, w.Add(seq, future))
			case 3:
				require.NoError(t, w.Add(4, future))
			}
			return seq == 3
		})
		require.EqualValues(t, 3, w.Count())
		require.Equal(t, future, w.GetNextExpiration(math.MaxInt64))
		for _, seq := range []uint64{1, 2, 4} {
			require.NoError(t, w.Remove(seq, future))
		}
	}
}

// TestPanic: what was offered when callback panicked is offered again.
func TestPanic(t *testing.T) {
	for _, w := range []wheel{thw.NewHashWheel(), NewHashWheel()} {
		require.NoError(t, w.Add(1, 0))
		require.PanicsWithError(t, "callback", func() {
			w.ExpireTasks(func(uint64, int64) bool { panic(errors.New("callback")) })
		})
		require.EqualValues(t, 1, w.Count())
		offered := 0
		w.ExpireTasks(func(seq uint64, expires int64) bool {
			offered++
			return seq == 1 && expires == 0
		})
		require.Equal(t, 1, offered)
		require.Zero(t, w.Count())
	}
}
