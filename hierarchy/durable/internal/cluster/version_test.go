package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

const atVersion = 4 // in a frame

func withVersion(data []byte, version byte) []byte {
	data = bytes.Clone(data)
	data[atVersion] = version
	end := len(data) - 4
	binary.LittleEndian.PutUint32(data[end:], frame.Checksum(data[:end]))
	return data
}

// A process that can't read one of the logs says so, and writes nothing: no lease, no claim, no frame.
func TestLogOfALaterVersion(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	w.eventually("all", func() bool { return a.owns() == partitions })
	w.NoError(a.Shutdown(t.Context()))
	w.takeOverNewer(1)
	table := w.table.All()
	var ends []storage.Bounds
	for _, d := range w.disks {
		end, err := d.Open().Bounds(t.Context())
		w.NoError(err)
		ends = append(ends, end)
	}
	err := w.process().open(t.Context())
	w.ErrorIs(err, partition.ErrVersion)
	w.ErrorContains(err, "version 2 instead of 1")
	w.Equal(table, w.table.All())
	for at, d := range w.disks {
		end, err := d.Open().Bounds(t.Context())
		w.NoError(err)
		w.Equal(ends[at], end)
	}
}

// takeOverNewer appends the takeover of a later version to a log, by somebody who does not ask for claims.
func (w *world) takeOverNewer(at int) {
	ctx, log := w.t.Context(), w.disks[at].Open()
	end, err := log.Bounds(ctx)
	w.NoError(err)
	last, err := log.Get(ctx, end.Last)
	w.NoError(err)
	h, err := frame.Parse(last)
	w.NoError(err)
	var builder frame.Builder
	next := h.Header
	next.Number, next.Epoch, next.Previous = h.Number+1, h.Number+1, h.Checksum
	builder.Start(next)
	builder.Add(&frame.Op{Kind: frame.Takeover})
	data, _ := builder.Finish()
	w.NoError(log.Append(ctx, end.Last, withVersion(data, frame.Version+1)))
}

// A process gives up the claim of a log that turns out to be newer, and leaves it to others.
func TestLogThatBecomesNewer(t *testing.T) {
	w := newWorld(t)
	a := w.openSteady()
	w.eventually("all", func() bool { return a.owns() == partitions })
	w.takeOverNewer(0)
	call := &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("key0")}}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- a.Do(ctx, 0, call) }()
	w.eventually("given up", func() bool { return a.owns() == partitions-1 && a.latest().now().view.Claims[0].Free })
	cancel()
	w.Error(<-ended)
}

// silentAtFirst is a log that does not answer when it is asked for the first time.
type silentAtFirst struct {
	storage.Log
	asked *atomic.Bool
}

func (l silentAtFirst) Bounds(ctx context.Context) (storage.Bounds, error) {
	if !l.asked.Swap(true) {
		return storage.Bounds{}, errors.New("no answer")
	}
	return l.Log.Bounds(ctx)
}

// A process joins if a log does not answer that it may be able to read, and does not claim it if it is not.
func TestSilentLogOfALaterVersion(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	w.eventually("all", func() bool { return a.owns() == partitions })
	w.NoError(a.Shutdown(t.Context()))
	w.takeOverNewer(1)
	b := w.process().steady()
	b.wrap = func(log storage.Log) storage.Log {
		if log == storage.Log(b.logs[1]) {
			return silentAtFirst{log, new(atomic.Bool)}
		}
		return log
	}
	w.NoError(b.open(t.Context()))
	w.eventually("the others", func() bool { return b.owns() == partitions-1 })
	w.True(b.latest().now().view.Claims[1].Free)
}

// Shutdown does not wait for others to take what none of them can take.
func TestShutdownOfWhatOthersCantTake(t *testing.T) {
	w := newWorld(t)
	a, b := w.patient(), w.patient()
	w.NoError(a.open(t.Context()))
	w.NoError(b.open(t.Context()))
	w.eventually("two each", func() bool { return a.owns() == 2 && b.owns() == 2 })
	for at := range partitions {
		if _, owned, _ := b.Stats(at); owned {
			a.latest().member.SetUnable(at, true)
		}
	}
	w.eventually("b knows", func() bool {
		peer, _ := b.latest().now().view.Peer(a.latest().member.ID())
		return len(peer.Unable) == 2
	})
	w.within("Shutdown", func() { w.NoError(b.Shutdown(context.Background())) })
	w.Equal(2, a.owns())
}
