package partition

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// filled is a disk with a log of some frames, and a mark at the last one.
func filled(t *testing.T) *bench {
	b := newBench(t)
	b.open()
	for i := range 8 {
		b.set(fmt.Sprintf("key %d", i), "value", time.Hour)
	}
	b.remove("key 0")
	b.move("key 1", time.Minute)
	b.shut()
	return b
}

// number is that of the last frame.
func (b *bench) number() uint64 {
	bounds, err := b.disk.Open().Bounds(b.t.Context())
	b.NoError(err)
	return bounds.Last
}

// Each bit of each frame counts, and each frame: the log is damaged, never smaller.
func TestDamageIsNoticed(t *testing.T) {
	b := filled(t)
	good := b.disk
	damage := func(what string, do func(*memlog.Disk)) {
		b.disk = good.Copy()
		do(b.disk)
		appends := b.disk.Appends()
		err := b.tryOpen()
		require.ErrorIs(t, err, ErrDamaged, what)
		require.ErrorContains(t, err, "partition 3: ", what)
		require.ErrorIs(t, b.tryOpen(), ErrDamaged, what+", again")
		require.LessOrEqual(t, b.disk.Appends(), appends+2)
	}
	last := b.number()
	for n := uint64(1); n <= last; n++ {
		data, err := good.Open().Get(t.Context(), n)
		require.NoError(t, err)
		for i := 0; i < len(data); i += 1 + i%3 {
			damage(fmt.Sprintf("byte %d of frame %d", i, n), func(d *memlog.Disk) { d.Change(n, changed(data, i)) })
		}
		if n > 1 {
			damage(fmt.Sprintf("begins at %d", n), func(d *memlog.Disk) { d.Open().Trim(t.Context(), n) })
			damage(fmt.Sprintf("frame %d twice", n-1), func(d *memlog.Disk) {
				before, _ := good.Open().Get(t.Context(), n-1)
				d.Change(n, before)
			})
		}
		damage(fmt.Sprintf("ends before %d", n), func(d *memlog.Disk) { d.Cut(n) })
		damage(fmt.Sprintf("frame %d missing", n), func(d *memlog.Disk) { d.Change(n, nil) })
	}
	b.disk = good
	b.open()
	b.Len(b.keys(false), 7)
}

// changed is data with another byte i.
func changed(data []byte, i int) []byte {
	b := append([]byte(nil), data...)
	b[i] ^= 0x10
	if i == 4 { // the version, which is no damage, is not tested here
		b[0]++
	}
	return b
}

func TestMarkIsMissing(t *testing.T) {
	b := filled(t)
	other := new(memlog.Disk)
	for data, err := range b.disk.Open().Read(t.Context(), 1, b.number()) {
		b.NoError(err)
		bounds, _ := other.Open().Bounds(t.Context())
		b.NoError(other.Open().Append(t.Context(), bounds.Last, data))
	}
	b.disk = other
	b.ErrorIs(b.tryOpen(), ErrDamaged)
}

// A log of another partition is not taken for this one's.
func TestLogOfAnotherPartition(t *testing.T) {
	b := filled(t)
	b.cfg.Partition = 2
	b.ErrorIs(b.tryOpen(), ErrDamaged)
	b.cfg.Partition, b.cfg.Partitions = 3, 16
	b.ErrorIs(b.tryOpen(), ErrDamaged)
}

// A log that is whole, and is not the one whose last frame was acknowledged.
func TestMarkOfAnotherHistory(t *testing.T) {
	b := filled(t)
	mark, err := b.disk.Open().Mark(t.Context())
	b.NoError(err)
	mark.Checksum++
	b.disk.Remark(mark)
	b.ErrorIs(b.tryOpen(), ErrDamaged)
}

func TestMarksAreSetWhileThereIsWork(t *testing.T) {
	b := newBench(t)
	b.cfg.MarkEvery = time.Millisecond
	b.open()
	b.set("a", "", time.Hour)
	b.Eventually(func() bool {
		m, err := b.disk.Open().Mark(t.Context())
		return err == nil && m.Number == b.number()
	}, time.Minute, time.Millisecond)
}

// A log that does not answer during Open ends Open with its context.
func TestOpenEndsWithItsContext(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.disk.SetFull(true)
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
		defer cancel()
		_, err := Open(ctx, b.cfg.with(b.disk.Open()))
		b.ErrorIs(err, context.DeadlineExceeded)
		b.ErrorContains(err, "no space left")
		b.NotErrorIs(err, storage.ErrDamaged)
	})
}
