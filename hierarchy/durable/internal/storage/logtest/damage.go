package logtest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
)

// aged returns the history of a log with several files, which was closed. Its mark is the last message but one.
func aged(t *testing.T, seed uint64, d Durable) *history {
	h := newHistory(t, seed, d)
	h.recover(h.disk)
	for range 14 {
		h.NoError(h.append())
	}
	h.trimmed = 3
	h.NoError(h.log.Trim(h.ctx, h.trimmed))
	h.Size = min(h.Size, 30)
	h.NoError(h.append())
	for n := range uint64(3) {
		h.higher, h.mark = append(h.higher, h.mark), storage.Mark{Number: 12 + n, Checksum: h.rng.Uint32()}
		h.NoError(h.log.SetMark(h.ctx, h.mark))
	}
	h.close()
	return h
}

// flipped flips bits of each byte, but of what was never written only here and there.
func flipped(t *testing.T, d Durable) {
	h := aged(t, 1, d)
	for _, name := range h.disk.Files() {
		data := h.disk.Data(name)
		for at := range data {
			if data[at] == 0 && at%h.some(97) > 0 {
				continue
			}
			bits := byte(1) << h.rng.IntN(8)
			if at%3 == 0 {
				bits = byte(1 + h.rng.IntN(255))
			}
			disk := h.disk.Clone()
			disk.Flip(name, at, bits)
			h.survives(disk, false, "%s with %x changed at %d", name, bits, at)
		}
	}
}

// survives checks that a log that was damaged says so, or has what it had. It may have lost the last message, which may
// look as if it had never been acknowledged, and more if that is excused and the mark tells.
func (h *history) survives(disk *memdisk.Disk, excused bool, format string, args ...any) {
	explain := append([]any{format}, args...)
	log, err := h.Open(disk)
	if err != nil {
		h.ErrorIs(err, storage.ErrDamaged, explain...)
		h.Zero(disk.OpenFiles())
		return
	}
	m, err := log.Mark(h.ctx)
	if !errors.Is(err, storage.ErrAbsent) {
		h.NoError(err)
		h.Contains(append(h.higher, h.mark), m, explain...)
	}
	b, err := log.Bounds(h.ctx)
	h.NoError(err)
	h.LessOrEqual(b.Last, uint64(len(h.all)), explain...)
	if excused && b.Last < m.Number {
		<-log.Close() // the mark tells
		return
	}
	h.GreaterOrEqual(int(b.Last), len(h.all)-1, explain...)
	n := b.First
	for data, err := range log.Read(h.ctx, b.First, b.Last) {
		if err != nil {
			h.ErrorIs(err, storage.ErrDamaged, explain...)
			break
		}
		h.Equal(h.all[n-1], data, explain...)
		n++
	}
	<-log.Close()
	h.Zero(disk.OpenFiles())
}

// altered takes files away, cuts and lengthens them, and puts them in the place of others.
func altered(t *testing.T, d Durable) {
	h := aged(t, 2, d)
	other := aged(t, 3, d)
	mixed := h.fork(h.disk)
	mixed.higher = append(append(other.higher, other.mark), h.higher...) // which does not show whose it is
	names := h.disk.Files()
	h.Greater(len(names), 3)
	for _, name := range names {
		h.alter(name, nil, true, "no %s", name)
		data := h.disk.Data(name)
		for at := 0; at < len(data); at += 1 + h.rng.IntN(h.some(40)) {
			h.alter(name, data[:at:at], false, "%s has %d bytes only", name, at)
			if tail := graft(data, other.disk.Data(name), at); !bytes.Equal(tail, other.disk.Data(name)) {
				mixed.alter(name, tail, true, "%s is another log's from %d on", name, at)
			}
		}
		for _, more := range []int{1, 8, 4096} {
			h.alter(name, append(data[:len(data):len(data)], make([]byte, more)...), false, "%s has %d bytes more", name, more)
		}
		for _, from := range names {
			h.alter(name, h.disk.Data(from), true, "%s is a copy of %s", name, from)
			h.swap(name, from)
		}
	}
}

// graft returns data with the tail of another file.
func graft(data, other []byte, at int) []byte {
	return append(data[:at:at], other[min(at, len(other)):]...)
}

// alter checks the log with another file of this name.
func (h *history) alter(name string, data []byte, excused bool, format string, args ...any) {
	disk := h.disk.Clone()
	disk.Put(name, data)
	h.survives(disk, excused, format, args...)
}

func (h *history) swap(a, b string) {
	disk := h.disk.Clone()
	disk.Put(a, h.disk.Data(b))
	disk.Put(b, h.disk.Data(a))
	h.survives(disk, true, "%s and %s are swapped", a, b)
}
