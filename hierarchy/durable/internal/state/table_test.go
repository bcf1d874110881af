package state

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// check finds what must hold after each operation.
func (s *State) check(t *testing.T, keys map[string]string) {
	require.Equal(t, len(keys), s.live)
	slots := 0
	for p := range s.table.parts {
		part := &s.table.parts[p]
		require.LessOrEqual(t, 4*part.count, 3*len(part.slots))
		for _, i := range part.slots {
			if i != 0 {
				slots++
			}
		}
	}
	require.Equal(t, s.live, slots)
	bytes := int64(0)
	for k, v := range keys {
		timer, ref, ok := s.Find([]byte(k))
		require.True(t, ok, k)
		require.Equal(t, k, timer.Key)
		require.Equal(t, v, timer.Value)
		bytes += int64(s.records.at(uint32(ref)).size())
	}
	require.Equal(t, bytes, s.Bytes())
	s.records.check(t, s.live)
}

// check finds what must hold after each operation.
func (r *records) check(t *testing.T, live int) {
	taken := 0
	for at, c := range r.chunks {
		if c == nil {
			require.Contains(t, r.gone, uint32(at))
			continue
		}
		require.NotContains(t, r.gone, uint32(at))
		if last := at == int(r.next>>chunkBits); last {
			require.Equal(t, r.next&(chunkSize-1), uint32(c.used))
			require.True(t, c.room || c.gave == 0)
		} else {
			require.NotZero(t, c.live)
			require.True(t, c.room || c.gave == 0 && c.used == chunkSize)
		}
		n := 0
		for i := range c.all {
			if c.all[i].state != free {
				n++
			}
		}
		require.Equal(t, n, int(c.live))
		taken += n
	}
	require.Equal(t, live, taken)
}

// Keys that come and go, against a map.
func TestKeysComeAndGo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := New()
	s.Build()
	keys := make(map[string]string)
	h := frame.Header{Number: 1, Owner: 9}
	var c *Cursor
	for n := range 30_000 {
		switch n % 5000 { // there are few at times, and some of the time nobody uses numbers again
		case 0:
			c = s.Cursor()
		case 2000:
			c.Close()
		}
		most := []int{900, 20, 2000}[n/1000%3]
		k := fmt.Sprint(r.IntN(most))
		v := fmt.Sprint(n)
		op := frame.Op{Kind: frame.Set, Key: []byte(k), Value: []byte(v), ID: frame.ID{Owner: 9, Number: uint64(n)}}
		if r.IntN(2) == 0 || n/1000%3 == 1 {
			op.Kind = frame.Remove
			k = fmt.Sprint(r.IntN(2000))
			op.Key = []byte(k)
			delete(keys, k)
		} else {
			keys[k] = v
		}
		require.NoError(t, s.Apply(&h, &op))
		if n%500 == 0 {
			s.check(t, keys)
		}
	}
	for k := range keys {
		require.NoError(t, s.Apply(&h, &frame.Op{Kind: frame.Remove, Key: []byte(k)}))
		delete(keys, k)
	}
	s.check(t, keys)
	require.Empty(t, s.records.chunks)
}
