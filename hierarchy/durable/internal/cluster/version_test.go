package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// newerLog is a log as a program has it that writes frames of a later version, and reads both.
type newerLog struct{ storage.Log }

const atVersion = 4 // in a frame

func withVersion(data []byte, version byte) []byte {
	data = bytes.Clone(data)
	data[atVersion] = version
	end := len(data) - 4
	binary.LittleEndian.PutUint32(data[end:], frame.Checksum(data[:end]))
	return data
}

func (l newerLog) Append(ctx context.Context, last uint64, data []byte) error {
	return l.Log.Append(ctx, last, withVersion(data, frame.Version+1))
}

func (l newerLog) Get(ctx context.Context, number uint64) ([]byte, error) {
	data, err := l.Log.Get(ctx, number)
	if err == nil {
		data = withVersion(data, frame.Version)
	}
	return data, err
}

func (l newerLog) Read(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for data, err := range l.Log.Read(ctx, from, to) {
			if err == nil {
				data = withVersion(data, frame.Version)
			}
			if !yield(data, err) {
				return
			}
		}
	}
}

// openNewer begins a process of a later version.
func (w *world) openNewer() *process {
	p := w.process()
	p.wrap = func(log storage.Log) storage.Log { return newerLog{log} }
	w.NoError(p.open(w.t.Context()))
	return p
}

// versions are those of the last frames.
func (w *world) versions() (all []byte) {
	for _, d := range w.disks {
		log := d.Open()
		b, err := log.Bounds(w.t.Context())
		w.NoError(err)
		data, err := log.Get(w.t.Context(), b.Last)
		w.NoError(err)
		all = append(all, data[atVersion])
	}
	return all
}

// ownsReadable reports whether a process can read all that it owns.
func (p *process) ownsReadable() bool {
	for at := range partitions {
		if _, owned, _ := p.Stats(at); owned && p.w.versions()[at] != frame.Version {
			return false
		}
	}
	return true
}

// While a later version replaces this one, process after process, each owns what it can read, and nothing
// is lost. What the new ones have, an old one does not take when one of them dies.
func TestRollingDeploy(t *testing.T) {
	w := newWorld(t)
	a, b := w.openSteady(), w.openSteady() // what a new one takes over, they don't get again
	w.eventually("two each", func() bool { return a.owns() == 2 && b.owns() == 2 })
	for i := range 20 {
		a.set(fmt.Sprint("key", i), "value", time.Hour)
	}
	c := w.openNewer()
	w.eventually("shares", func() bool { return a.owns()+b.owns() == 3 && c.owns() == 1 })
	w.NoError(a.Shutdown(t.Context()))
	w.eventually("two each", func() bool { return b.owns() == 2 && c.owns() == 2 })
	w.Len(b.keys(), 20)
	d := w.openNewer()
	w.eventually("all", func() bool { return b.owns()+c.owns()+d.owns() == 4 && d.owns() > 0 })
	c.kill()
	w.eventually("others have them", func() bool { return b.owns()+d.owns() == 4 })
	w.True(b.ownsReadable())
	w.Len(b.keys(), 20)
	w.Len(d.keys(), 20)
	w.NoError(b.Shutdown(t.Context()))
	w.eventually("all new", func() bool { return d.owns() == 4 })
	w.Equal(bytes.Repeat([]byte{frame.Version + 1}, partitions), w.versions())
	w.Len(d.keys(), 20)
}

// A process that can read none of the logs says so, and writes nothing: no lease, no claim, no frame.
func TestAllLogsAreNewer(t *testing.T) {
	w := newWorld(t)
	a := w.openNewer()
	w.NoError(a.Shutdown(t.Context()))
	table := w.table.All()
	var ends []storage.Bounds
	for _, d := range w.disks {
		end, err := d.Open().Bounds(t.Context())
		w.NoError(err)
		ends = append(ends, end)
	}
	err := w.process().open(t.Context())
	w.ErrorIs(err, partition.ErrVersion)
	w.ErrorContains(err, "version 3 instead of 2")
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
	w.NoError(newerLog{log}.Append(ctx, end.Last, data))
}

// A process joins if it can read a log. It never claims the others, and gives up the claim of one that
// turns out to be newer.
func TestSomeLogsAreNewer(t *testing.T) {
	w := newWorld(t)
	a := w.openNewer()
	w.NoError(a.Shutdown(t.Context()))
	for _, at := range []int{0, 2} { // these were not written to by a later version
		log := w.disks[at].Open()
		end, err := log.Bounds(t.Context())
		w.NoError(err)
		for number := end.First; number <= end.Last; number++ {
			data, err := log.Get(t.Context(), number)
			w.NoError(err)
			w.disks[at].Change(number, withVersion(data, frame.Version))
		}
	}
	b := w.openSteady() // what c takes over, it does not get again
	w.eventually("two", func() bool { return b.owns() == 2 })
	w.True(b.ownsReadable())
	for at, claim := range b.latest().now().view.Claims {
		w.Equal(at%2 == 1, claim.Free)
	}

	w.takeOverNewer(0)
	call := &partition.Call{Ops: []partition.Op{{Kind: frame.Set, Key: []byte("key0")}}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- b.Do(ctx, 0, call) }()
	w.eventually("given up", func() bool { return b.owns() == 1 && b.latest().now().view.Claims[0].Free })
	cancel()
	w.Error(<-ended)

	c := w.openNewer()
	w.eventually("all", func() bool { return b.owns() == 1 && c.owns() == 3 })
	b.set("key0", "", time.Hour)
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

// A process joins also if those logs do not answer that it may be able to read.
func TestNewerLogAmongSilentOnes(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(), w.process()
	a.wrap = func(log storage.Log) storage.Log {
		if log == storage.Log(a.logs[1]) {
			return newerLog{log}
		}
		return log
	}
	w.NoError(a.open(t.Context()))
	w.NoError(a.Shutdown(t.Context()))
	b.wrap = func(log storage.Log) storage.Log {
		if log == storage.Log(b.logs[1]) {
			return log
		}
		return silentAtFirst{log, new(atomic.Bool)}
	}
	w.NoError(b.open(t.Context()))
	w.eventually("the others", func() bool { return b.owns() == partitions-1 })
}

// Shutdown does not wait for others to take what none of them can take.
func TestShutdownOfTheOnlyNewerOne(t *testing.T) {
	w := newWorld(t)
	a, b := w.patient(), w.patient()
	w.NoError(a.open(t.Context()))
	b.wrap = func(log storage.Log) storage.Log { return newerLog{log} }
	w.NoError(b.open(t.Context()))
	w.eventually("two each", func() bool { return a.owns() == 2 && b.owns() == 2 })
	w.within("Shutdown", func() { w.NoError(b.Shutdown(context.Background())) })
	w.Equal(2, a.owns())
}

// olderLog is a log as a program has it that reads frames of version 1 alone.
type olderLog struct{ storage.Log }

func unreadable(data []byte) []byte {
	if data[atVersion] > frame.First {
		return withVersion(data, frame.Version+1)
	}
	return data
}

func (l olderLog) Get(ctx context.Context, number uint64) ([]byte, error) {
	data, err := l.Log.Get(ctx, number)
	if err == nil {
		data = unreadable(data)
	}
	return data, err
}

func (l olderLog) Read(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for data, err := range l.Log.Read(ctx, from, to) {
			if err == nil {
				data = unreadable(data)
			}
			if !yield(data, err) {
				return
			}
		}
	}
}

// While a process lives that reads version 1 alone, all write that, so it can take over from each. What it could not
// read is refused until it has gone.
func TestWritingForAnOldProcess(t *testing.T) {
	w := newWorld(t)
	old := w.process()
	old.steady().reads = frame.First
	old.wrap = func(log storage.Log) storage.Log { return olderLog{log} }
	w.NoError(old.open(t.Context()))
	b := w.openSteady() // who takes the old one for dead writes what that can't read
	w.eventually("two each", func() bool { return old.owns() == 2 && b.owns() == 2 })
	for i := range 20 {
		b.set(fmt.Sprint("key", i), "value", time.Hour)
	}
	w.Equal(bytes.Repeat([]byte{frame.First}, partitions), w.versions())
	schedule := func(at int) error {
		return b.Do(t.Context(), at, &partition.Call{Ops: []partition.Op{
			{Kind: frame.SetAt, Key: []byte("runs"), Schedule: []byte("@every 1h")}}})
	}
	for at := range partitions {
		if _, owned, _ := b.Stats(at); owned {
			w.ErrorIs(schedule(at), partition.ErrMixed)
		}
	}
	w.NoError(b.Shutdown(t.Context()))
	w.eventually("all old", func() bool { return old.owns() == 4 })
	w.Len(old.keys(), 20)
	b = w.openSteady()
	w.NoError(old.Shutdown(t.Context()))
	w.eventually("all new", func() bool { return b.owns() == 4 })
	w.eventually("a schedule", func() bool { return schedule(0) == nil })
	w.Equal(byte(frame.Version), w.versions()[0])
	w.Len(b.keys(), 21)
}
