package state

import (
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// record is one timer.
type record struct {
	data    string           // key and value in one piece of memory
	handle  hierarchy.Handle // on a wheel, while waiting
	due     int64            // wall time if wall, else the owner's time
	id      frame.ID
	home    uint64 // the number of the frame with its last Set, SetAt or Keep
	hash    uint32 // of the key
	attempt uint32 // the number of the last attempt that the log has, or 0
	keyLen  uint16
	state   status
	wall    bool
}

// status is where a timer is in its life.
type status uint8

const (
	free    status = iota // the record has no timer
	waiting               // on a wheel, or about to be put on one
	held                  // it is due and on no wheel: its attempt has to be written before it begins, or waits for a lease
	running               // an attempt is under way
	dead                  // on no wheel
)

func (r *record) key() string   { return r.data[:r.keyLen] }
func (r *record) value() string { return r.data[r.keyLen:] }

// overhead is about what a frame needs for a timer beside key and value.
const overhead = 32

// size is what the timer takes in the log at least.
func (r *record) size() int { return len(r.data) + overhead }

const (
	chunkBits = 10
	chunkSize = 1 << chunkBits
)

// records is the memory of all records, by number from 1. A record stays where it is.
type records struct {
	chunks []*[chunkSize]record
	next   uint32 // Invariant: numbers from next on were never used
	free   []uint32
	pinned int // while it is not 0, no number is used a second time
}

func (r *records) at(i uint32) *record { return &r.chunks[i>>chunkBits][i&(chunkSize-1)] }

// has tells whether there is a record i. One that is kept for long may have gone.
func (r *records) has(i uint32) bool { return i < r.next }

// take returns the number of a record that is free.
func (r *records) take() uint32 {
	if n := len(r.free); n > 0 && r.pinned == 0 {
		i := r.free[n-1]
		r.free = r.free[:n-1]
		return i
	}
	r.next = max(1, r.next)
	i := r.next
	r.next++
	if int(i>>chunkBits) == len(r.chunks) {
		r.chunks = append(r.chunks, new([chunkSize]record))
	}
	return i
}

// give makes record i free. When all are, their memory is given back.
func (r *records) give(i uint32, live int) {
	*r.at(i) = record{}
	if live == 0 && r.pinned == 0 {
		*r = records{}
		return
	}
	r.free = append(r.free, i)
}
