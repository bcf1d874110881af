package logtest

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
)

// history is what has happened to a log, and so what it may contain.
type history struct {
	*require.Assertions
	Durable
	ctx  context.Context
	disk *memdisk.Disk
	log  OnDisk
	rng  *rand.Rand

	all     [][]byte // all acknowledged messages from number 1 on, those that were deleted, too
	maybe   [][]byte // what was to come next, and may have
	trimmed uint64   // no message from here on may be missing
	mark    storage.Mark
	higher  []storage.Mark // marks that were not acknowledged
}

// newHistory opens a log on an empty disk.
func newHistory(t *testing.T, seed uint64, d Durable) *history {
	return &history{Assertions: require.New(t), ctx: t.Context(), Durable: d, disk: memdisk.New(seed),
		rng: rand.New(rand.NewPCG(seed, 1)), trimmed: 1}
}

// next returns the next message.
func (h *history) next() []byte {
	size := h.rng.IntN(2 * h.Size)
	switch h.rng.IntN(20) {
	case 0:
		size = 0
	case 1:
		size *= 8
	}
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(h.rng.Uint32())
	}
	return b
}

func (h *history) append() error {
	data := h.next()
	err := h.log.Append(h.ctx, uint64(len(h.all)), data)
	if err != nil {
		h.maybe = append(h.maybe, data)
		return err
	}
	h.all, h.maybe = append(h.all, data), nil
	return nil
}

func (h *history) setMark() error {
	m := storage.Mark{Number: h.top() + 1 + h.rng.Uint64N(3), Checksum: h.rng.Uint32()}
	err := h.log.SetMark(h.ctx, m)
	if err != nil {
		h.higher = append(h.higher, m)
		return err
	}
	h.mark, h.higher = m, nil
	return nil
}

// top returns the highest number that a mark may have.
func (h *history) top() uint64 {
	top := h.mark.Number
	for _, m := range h.higher {
		top = max(top, m.Number)
	}
	return top
}

func (h *history) trim() error {
	begin := h.trimmed + h.rng.Uint64N(uint64(len(h.all))+2-h.trimmed)
	h.trimmed = begin
	return h.log.Trim(h.ctx, begin)
}

// reopen closes the log and opens it again.
func (h *history) reopen() {
	h.close()
	h.recover(h.disk)
}

func (h *history) close() {
	<-h.log.Close()
	h.Zero(h.disk.OpenFiles())
}

// recover opens the log of a disk, and checks it.
func (h *history) recover(d *memdisk.Disk) {
	h.disk = d
	log, err := h.Open(d)
	h.NoError(err)
	h.log = log
	h.check()
}

// check checks that everything acknowledged is in the log, and nothing that was never to be.
func (h *history) check() {
	b, err := h.log.Bounds(h.ctx)
	h.NoError(err)
	if b.Last == uint64(len(h.all))+1 {
		h.appeared(b.Last)
	}
	h.maybe = nil // what is not there now will never be
	h.Equal(len(h.all), int(b.Last))
	h.LessOrEqual(b.First, h.trimmed)
	n := b.First
	for data, err := range h.log.Read(h.ctx, b.First, b.Last) {
		h.NoError(err)
		h.True(bytes.Equal(h.all[n-1], data), "message %d", n)
		n++
	}
	h.Equal(b.Last+1, n)
	h.checkMark()
}

// appeared takes the message that was not acknowledged for one that was, since it is in the log.
func (h *history) appeared(number uint64) {
	data, err := h.log.Get(h.ctx, number)
	h.NoError(err)
	for _, one := range h.maybe {
		if bytes.Equal(one, data) {
			h.all = append(h.all, data)
			return
		}
	}
	h.Fail("a message that was never appended")
}

func (h *history) checkMark() {
	m, err := h.log.Mark(h.ctx)
	if errors.Is(err, storage.ErrAbsent) {
		m, err = storage.Mark{}, nil
	}
	h.NoError(err)
	h.Contains(append(h.higher, h.mark), m)
	h.mark, h.higher = m, nil
}

// losePower loses power, opens the log, and checks it.
func (h *history) losePower(how memdisk.Crash) { h.recover(h.disk.Crash(how)) }

// fork returns a copy, which has a disk of its own.
func (h *history) fork(d *memdisk.Disk) *history {
	f := *h
	f.disk = d
	f.all = f.all[:len(f.all):len(f.all)]
	f.rng = rand.New(rand.NewPCG(uint64(len(f.all)), 2))
	return &f
}
