package partition

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLifeOfTimers(t *testing.T) {
	b := newBench(t)
	b.open()
	b.set("a", "1", 3*time.Second)
	b.set("b", "2", time.Second)
	b.setAt("c", "3", b.mock.Now().Add(2*time.Second))
	v, d := b.get("a")
	b.Equal("1", v)
	b.Equal(3*time.Second, d)
	b.True(b.move("a", 1500*time.Millisecond))
	b.False(b.move("x", 0))
	v, ok := b.remove("b")
	b.True(ok)
	b.Equal("2", v)
	_, ok = b.remove("b")
	b.False(ok)
	b.mock.Add(time.Second)
	b.Empty(b.took())
	b.mock.Add(500 * time.Millisecond)
	b.Equal([]string{"a"}, b.took())
	b.mock.Add(500 * time.Millisecond)
	b.Equal([]string{"c"}, b.took())
	b.Empty(b.keys(false))
}

// What was acknowledged is there after a crash and after an orderly end, with the same IDs.
func TestAllComesBack(t *testing.T) {
	for name, end := range map[string]func(*bench){"crash": (*bench).crash, "shutdown": (*bench).shut} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.open()
			b.set("a", "1", time.Minute)
			b.set("b", "2", time.Minute)
			b.set("b", "3", 2*time.Minute)
			b.set("c", "4", time.Minute)
			b.move("c", 3*time.Minute)
			b.set("d", "5", time.Minute)
			b.remove("d")
			b.setAt("e", "6", b.mock.Now().Add(4*time.Minute))
			b.set("f", "7", 0)
			b.mock.Add(0)
			b.Equal([]string{"f"}, b.took())
			a, _, _ := b.p.core.State.Find([]byte("a"))
			end(b)
			b.mock.Add(30 * time.Second)
			b.open()
			b.Equal(map[string]string{"a": "1", "b": "3", "c": "4", "e": "6"}, b.keys(false))
			for k, d := range map[string]time.Duration{"a": 30, "b": 90, "c": 150, "e": 210} {
				_, left := b.get(k)
				b.Equal(d*time.Second, left, k)
			}
			again, _, _ := b.p.core.State.Find([]byte("a"))
			b.Equal(a.ID, again.ID)
			b.mock.Add(time.Hour)
			b.Equal([]string{"a", "b", "c", "e"}, b.took())
		})
	}
}

func TestIdleWritesNothing(t *testing.T) {
	b := newBench(t)
	b.cfg.MarkEvery = time.Millisecond
	b.open()
	b.set("a", "", 1000*time.Hour)
	before := b.disk.Appends()
	b.mock.Add(999 * time.Hour)
	require.Equal(t, before, b.disk.Appends())
	require.Nil(t, b.disk.Open().Trim(t.Context(), 1))
}
