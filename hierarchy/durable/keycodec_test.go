package durable_test

import (
	"context"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// openWithKeys opens timers with keys of that type and without a Codec.
func openWithKeys[K comparable](t *testing.T) (*durable.Keyed[K, int], error) {
	w, err := durable.Open(t.Context(), durable.Config[K, int]{Dir: t.TempDir(), Clock: clock.NewMock(),
		Handle: func(context.Context, durable.Firing[K, int]) error { return nil }})
	if err == nil {
		t.Cleanup(func() { w.Close() })
	}
	return w, err
}

// refuses opens timers with keys that JSON does not tell apart. The error must say why.
func refuses[K comparable](t *testing.T, why string) {
	t.Helper()
	_, err := openWithKeys[K](t)
	require.ErrorIs(t, err, durable.ErrArgument)
	require.ErrorContains(t, err, why)
}

func TestTypesThatJSONDoesNotTellApart(t *testing.T) {
	type hidden struct{ A, b int }
	type leftOut struct {
		A int
		B int `json:"-"`
	}
	type nested struct{ Pairs [2]hidden }
	_ = hidden{}.b
	refuses[hidden](t, "b is not exported")
	refuses[leftOut](t, "B has the tag json:\"-\"")
	refuses[nested](t, "Pairs[].b is not exported")
	refuses[any](t, "interface {} is an interface")
	refuses[struct{ P *int }](t, "P is a pointer")
	refuses[*point](t, "is a pointer")
	refuses[chan int](t, "is a chan")
	refuses[float64](t, "is a float64")
	refuses[struct{ C complex64 }](t, "C is a complex64")
}

// keep sets a timer for each key. All must be there, and be found again.
func keep[K comparable](t *testing.T, keys ...K) {
	t.Helper()
	w, err := openWithKeys[K](t)
	require.NoError(t, err)
	for i, k := range keys {
		require.NoError(t, errOf(w.Set(t.Context(), k, i, time.Hour)))
	}
	for i, k := range keys {
		v, _, ok, err := w.Get(t.Context(), k)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, i, v)
	}
	n, err := w.Len(t.Context())
	require.NoError(t, err)
	require.Equal(t, len(keys), n)
}

type embedded struct {
	point
	Name string `json:"name,omitempty"`
}

// own has a hidden field, and methods that write and read it.
type own struct{ id uint8 }

func (o own) MarshalText() ([]byte, error) { return []byte{'a' + o.id}, nil }
func (o *own) UnmarshalText(b []byte) error {
	o.id = b[0] - 'a'
	return nil
}

func TestTypesThatJSONTellsApart(t *testing.T) {
	type blank struct {
		_ int // of no meaning for ==
		A int
	}
	keep(t, point{1, 2}, point{2, 1})
	keep(t, blank{A: 1}, blank{A: 2})
	keep(t, [2]string{"a", "b"}, [2]string{"ab", ""})
	keep(t, embedded{point{1, 2}, "a"}, embedded{point{1, 2}, ""}, embedded{point{1, 3}, ""})
	keep(t, own{1}, own{2})
	keep(t, struct{ O own }{own{1}}, struct{ O own }{own{2}})
	keep(t, netip.MustParseAddr("1.2.3.4"), netip.MustParseAddr("::ffff:1.2.3.4"), netip.MustParseAddr("fe80::1%eth0"))
	keep(t, time.Unix(1, 0).UTC(), time.Unix(1, 1).UTC())
	keep(t, "\xff", "\xfe", "\uFFFD")
}

// forgetful writes less than it has.
type forgetful struct{ A, B int }

func (f forgetful) MarshalJSON() ([]byte, error) { return []byte{'0' + byte(f.A)}, nil }
func (f *forgetful) UnmarshalJSON(b []byte) error {
	f.A = int(b[0] - '0')
	return nil
}

// unreadable can be written, and not be read.
type unreadable struct{ A float64 }

func (unreadable) MarshalText() ([]byte, error) { return []byte("x"), nil }

// loseNothing has each operation with a bad key refused. The good one stays as it is.
func loseNothing[K comparable](t *testing.T, good, bad K) {
	t.Helper()
	ctx := t.Context()
	w, err := openWithKeys[K](t)
	require.NoError(t, err)
	require.NoError(t, errOf(w.Set(ctx, good, 1, time.Hour)))
	refused := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, durable.ErrArgument)
	}
	refused(errOf(w.Set(ctx, bad, 2, time.Hour)))
	refused(errOf(w.SetAt(ctx, bad, 2, time.Time{})))
	_, _, err = w.Move(ctx, bad, 0)
	refused(err)
	_, _, err = w.Remove(ctx, bad)
	refused(err)
	_, _, _, err = w.Get(ctx, bad)
	refused(err)
	var b durable.Batch[K, int]
	b.Remove(good)
	b.Remove(bad)
	refused(w.Batch(ctx, &b))
	v, left, ok, err := w.Get(ctx, good)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, 1, v)
	require.Equal(t, time.Hour, left)
}

func TestKeysThatTheirEncodingDoesNotTellApart(t *testing.T) {
	loseNothing(t, [2]string{"\uFFFD"}, [2]string{"\xff"})
	loseNothing(t, struct{ S string }{"\uFFFD"}, struct{ S string }{"\xfe"})
	loseNothing(t, forgetful{A: 1}, forgetful{A: 1, B: 2})
	loseNothing(t, time.Unix(1, 0).UTC(), time.Unix(1, 0).In(time.FixedZone("", 60)))
	w, err := openWithKeys[unreadable](t)
	require.NoError(t, err)
	for _, k := range []unreadable{{1}, {math.NaN()}} {
		require.ErrorIs(t, errOf(w.Set(t.Context(), k, 1, 0)), durable.ErrArgument)
	}
}
