package memdisk

import (
	"io"
	"io/fs"
	"syscall"
)

const (
	sector = 512
	page   = 4096
)

// file is the contents of a file.
type file struct {
	now     []byte           // what reads return
	durable []byte           // what a loss of power leaves at least
	clean   map[int64][]byte // pages that were not written, as a sync has failed, and count as if they were
	writes  []write          // since the last sync
	handles int
}

type write struct {
	at   int64
	data []byte
}

// apply returns the contents with what was written.
func (w write) apply(to []byte) []byte {
	to = resize(to, max(int64(len(to)), w.at+int64(len(w.data))))
	copy(to[w.at:], w.data)
	return to
}

// pages calls f for each page of data that w changes, with its begin and its end.
func (w write) pages(data []byte, f func(begin, end int64)) {
	for at := w.at / page * page; at < w.at+int64(len(w.data)); at += page {
		f(at, min(at+page, int64(len(data))))
	}
}

// resize returns b with another length. What is added is zero.
func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

// truncate empties the file. That takes effect at once, on the disk, too: nobody depends on it.
func (n *file) truncate() { n.now, n.durable, n.clean, n.writes = nil, nil, nil, nil }

func (n *file) write(data []byte, at int64) {
	if len(data) == 0 {
		return
	}
	w := write{at, append([]byte(nil), data...)}
	n.now = w.apply(n.now)
	n.writes = append(n.writes, w)
}

// sync writes the changed pages to the disk.
func (n *file) sync() {
	n.durable = resize(n.durable, int64(len(n.now)))
	for _, w := range n.writes {
		w.pages(n.now, func(begin, end int64) {
			copy(n.durable[begin:end], n.now[begin:end])
			delete(n.clean, begin)
		})
	}
	n.writes = nil
}

// failSync is a sync that fails as in Linux: some sectors were written, and all pages count as clean.
func (n *file) failSync(coin func() bool) {
	if coin() {
		n.durable = resize(n.durable, int64(len(n.now)))
	}
	if n.clean == nil {
		n.clean = map[int64][]byte{}
	}
	for _, w := range n.writes {
		w.pages(n.now, func(begin, end int64) {
			copySectors(n.durable, n.now, begin, end, coin)
			n.clean[begin] = append([]byte(nil), n.now[begin:end]...)
		})
	}
	n.writes = nil
}

// copySectors copies the sectors between begin and end that coin chooses, as far as to has them.
func copySectors(to, from []byte, begin, end int64, coin func() bool) {
	for end = min(end, int64(len(to))); begin < end; begin += sector {
		if coin() {
			copy(to[begin:min(begin+sector, end)], from[begin:])
		}
	}
}

// handle is an open file.
type handle struct {
	d      *Disk
	n      *file
	name   string
	closed bool
}

// handle opens a file.
func (d *Disk) handle(n *file, name string) *handle {
	n.handles++
	d.open++
	return &handle{d: d, n: n, name: name}
}

func (h *handle) do(kind Kind, f func() error) error { return h.try(kind, f, func() {}) }

// try calls f, or failed if a fault was injected.
func (h *handle) try(kind Kind, f func() error, failed func()) error {
	return h.d.try(kind, h.name, func() error {
		if h.closed {
			return fs.ErrClosed
		}
		return f()
	}, failed)
}

// Close closes the file.
func (h *handle) Close() error {
	h.d.lock()
	defer h.d.m.mu.Unlock()
	if h.closed {
		return fs.ErrClosed
	}
	h.closed = true
	h.n.handles--
	h.d.open--
	return nil
}

// Size returns the size of the file.
func (h *handle) Size() (size int64, err error) {
	err = h.do(Read, func() error {
		size = int64(len(h.n.now))
		return nil
	})
	return size, err
}

// ReadAt reads what the cache has.
func (h *handle) ReadAt(b []byte, at int64) (n int, err error) {
	err = h.do(Read, func() error {
		n = copy(b, h.n.now[min(at, int64(len(h.n.now))):])
		return nil
	})
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return n, err
}

// WriteAt writes. If it fails, it may have written a part.
func (h *handle) WriteAt(b []byte, at int64) (n int, err error) {
	err = h.try(Write, func() error {
		if room := h.d.m.room(h.n); at+int64(len(b)) > room {
			n = int(max(0, room-at))
			h.n.write(b[:n], at)
			return syscall.ENOSPC
		}
		n = len(b)
		h.n.write(b, at)
		return nil
	}, func() { h.n.write(b[:h.d.m.rng.IntN(len(b)+1)], at) })
	return n, err
}

// Sync makes durable what was written.
func (h *handle) Sync() error {
	return h.try(Sync, func() error {
		h.n.sync()
		return nil
	}, func() { h.n.failSync(h.d.m.coin) })
}
