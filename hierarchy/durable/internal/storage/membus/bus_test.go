package membus_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/bustest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/membus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBus(t *testing.T) {
	var net membus.Net
	bustest.Run(t, func(t *testing.T) storage.Bus {
		b := net.Connect()
		t.Cleanup(b.Close)
		return b
	}, func(storage.Bus) {})
}

// received returns a function that returns the messages that have arrived meanwhile.
func received(t *testing.T, b *membus.Bus, subject string) func() []string {
	got := make(chan string, 100)
	_, err := b.Subscribe(subject, func(m storage.Message) { got <- string(m.Data) })
	require.NoError(t, err)
	return func() (all []string) {
		synctest.Wait()
		for len(got) > 0 {
			all = append(all, <-got)
		}
		return all
	}
}

// Messages are lost, late, doubled and overtaken as their fates are.
func TestFates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net membus.Net
		a, b := net.Connect(), net.Connect()
		defer a.Close()
		defer b.Close()
		got := received(t, b, "s")
		fates := []membus.Fate{{Lost: true}, {After: 2 * time.Second}, {}, {Again: time.Second}}
		net.SetFate(func(from, to *membus.Bus) membus.Fate {
			require.Same(t, a, from)
			require.Same(t, b, to)
			f := fates[0]
			fates = fates[1:]
			return f
		})
		for _, data := range []string{"lost", "late", "now", "twice"} {
			require.NoError(t, a.Publish("s", "", []byte(data)))
		}
		require.Equal(t, []string{"now", "twice"}, got())
		time.Sleep(time.Second)
		require.Equal(t, []string{"twice"}, got())
		time.Sleep(time.Second)
		require.Equal(t, []string{"late"}, got())
	})
}

// A process can be cut off in one direction, and does not notice. What is on its way then is lost.
func TestCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net membus.Net
		a, b := net.Connect(), net.Connect()
		defer a.Close()
		defer b.Close()
		toA, toB := received(t, a, "a"), received(t, b, "b")
		send := func() {
			require.NoError(t, a.Publish("b", "", []byte("to b")))
			require.NoError(t, b.Publish("a", "", []byte("to a")))
		}
		a.Cut(true, false)
		send()
		require.Equal(t, []string{"to a"}, toA())
		require.Empty(t, toB())
		a.Cut(false, true)
		send()
		require.Empty(t, toA())
		require.Equal(t, []string{"to b"}, toB())
		require.NoError(t, a.Offline())
		a.Cut(false, false)
		net.SetFate(func(_, to *membus.Bus) membus.Fate { return membus.Fate{After: time.Second} })
		send()
		a.Cut(false, true)
		time.Sleep(time.Second)
		require.Empty(t, toA())
		require.Equal(t, []string{"to b"}, toB())
	})
}

// A connection that is lost, is there again, or is closed for good is noticed.
func TestOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net membus.Net
		a := net.Connect()
		toA := received(t, a, "a")
		seen := make(chan error, 10)
		go a.Watch(nil, func() { seen <- a.Offline() })
		require.NoError(t, <-seen)
		a.SetOffline(true)
		require.ErrorIs(t, <-seen, storage.ErrOffline)
		require.NoError(t, a.Closed())
		require.NoError(t, a.Publish("a", "", nil), "it may be kept, or lost")
		require.Empty(t, toA())
		a.SetOffline(false)
		require.NoError(t, <-seen)
		require.NoError(t, a.Publish("a", "", []byte("data")))
		require.Equal(t, []string{"data"}, toA())
		a.Close()
		a.Close()
		require.ErrorIs(t, <-seen, storage.ErrClosed)
		require.ErrorIs(t, a.Closed(), storage.ErrClosed)
		require.ErrorIs(t, a.Publish("a", "", nil), storage.ErrClosed)
		_, err := a.Subscribe("a", func(storage.Message) {})
		require.ErrorIs(t, err, storage.ErrClosed)
	})
}
