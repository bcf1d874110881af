package state

import (
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// record is one timer.
type record struct {
	data    string           // key and value in one piece of memory
	handle  hierarchy.Handle // the timer's handle on a wheel, while it waits
	due     int64            // in wall time if wall is set, otherwise in the owner's time
	id      frame.ID
	home    uint64 // the number of the frame with its last Set, SetAt or Keep
	hash    uint32 // the hash of the key
	attempt uint32 // the number of the last attempt that the log has, or 0
	keyLen  uint16
	state   status
	wall    bool
	listed  States // where the timer is in the index, or 0
}

// status is the state of a timer.
type status uint8

const (
	free    status = iota // the record has no timer
	waiting               // on a wheel, or about to be put on one
	held                  // due and on no wheel: the attempt waits for a record in the log, for the lease, or for Begin
	running               // an attempt is in progress
	dead                  // on no wheel
)

func (r *record) key() string   { return r.data[:r.keyLen] }
func (r *record) value() string { return r.data[r.keyLen:] }

// overhead is about the number of bytes that a timer takes in a frame apart from key and value.
const overhead = 32

// size returns about the least number of bytes that the timer takes in the log.
func (r *record) size() int { return len(r.data) + overhead }

const (
	chunkBits = 7
	chunkSize = 1 << chunkBits
)

// chunk is the memory of chunkSize records with consecutive numbers.
type chunk struct {
	all  [chunkSize]record
	free [chunkSize]uint8 // a stack of the gave places of the records that were given back after use
	gave uint8
	used uint8 // records from here on were never taken
	live uint8 // the number of records that are taken
	room bool  // the chunk is listed in records.room
}

// take takes a free record of the chunk. ok is false if there is none.
func (c *chunk) take() (at uint32, ok bool) {
	switch {
	case c.gave > 0:
		c.gave--
		at = uint32(c.free[c.gave])
	case c.used < chunkSize:
		at = uint32(c.used)
		c.used++
	default:
		return 0, false
	}
	c.live++
	return at, true
}

// records is the memory of all records, which are numbered from 1. A record does not move. The memory of a chunk whose
// records are all free is released, and allocated again when its numbers are used again.
type records struct {
	chunks []*chunk
	next   uint32   // Invariant: numbers from next on were never used. They are in the last chunk, or beyond it
	room   []uint32 // chunks that may have free records below next
	gone   []uint32 // chunks whose memory was released
	pinned int      // while it is not 0, no number is used again
}

func (r *records) at(i uint32) *record { return &r.chunks[i>>chunkBits].all[i&(chunkSize-1)] }

// has reports whether record i has memory. The memory of a free record may have been released.
func (r *records) has(i uint32) bool { return i < r.next && r.chunks[i>>chunkBits] != nil }

// timer returns record i if it holds a timer, otherwise nil.
func (r *records) timer(i uint32) *record {
	if !r.has(i) || r.at(i).state == free {
		return nil
	}
	return r.at(i)
}

// take returns the number of a free record.
func (r *records) take() uint32 {
	if r.pinned == 0 {
		if i, ok := r.again(); ok {
			return i
		}
	}
	at := r.next >> chunkBits
	if int(at) == len(r.chunks) {
		r.chunks = append(r.chunks, new(chunk))
		if at == 0 { // number 0 means no record
			r.next, r.chunks[0].used = 1, 1
		}
	}
	c := r.chunks[at]
	i := r.next
	c.used++
	c.live++
	r.next++
	return i
}

// again takes a number that was used before, if there is a free one.
func (r *records) again() (uint32, bool) {
	for {
		for n := len(r.room); n > 0; n = len(r.room) {
			at := r.room[n-1]
			c := r.chunks[at]
			if c != nil && (c.gave > 0 || int(at) < int(r.next>>chunkBits)) {
				if i, ok := c.take(); ok {
					return at<<chunkBits | i, true
				}
			}
			if r.room = r.room[:n-1]; c != nil {
				c.room = false
			}
		}
		n := len(r.gone)
		if n == 0 {
			return 0, false
		}
		at := r.gone[n-1]
		r.gone = r.gone[:n-1]
		r.chunks[at] = &chunk{room: true}
		if at == 0 {
			r.chunks[0].used = 1
		}
		r.room = append(r.room, at)
	}
}

// give makes record i free. If all records of the chunk are free then, it releases the chunk's memory. If all records
// of all chunks are free, it releases all memory.
func (r *records) give(i uint32, live int) {
	if live == 0 && r.pinned == 0 {
		*r = records{}
		return
	}
	at, place := i>>chunkBits, i&(chunkSize-1)
	c := r.chunks[at]
	c.all[place] = record{}
	c.free[c.gave] = uint8(place)
	c.gave++
	switch c.live--; {
	case c.live == 0 && at < r.next>>chunkBits:
		r.chunks[at] = nil
		r.gone = append(r.gone, at)
	case !c.room:
		c.room = true
		r.room = append(r.room, at)
	}
}
