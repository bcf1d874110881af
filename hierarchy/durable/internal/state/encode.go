package state

import (
	"encoding/binary"
	"math"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// This file has the encoding of a timer in answers and messages. FORMAT.md describes the bytes.

const (
	timerState = 0x0f // the bits of the state
	timerWall  = 0x10
	timerExtra = 0x20 // the bit that is set if an Extra follows
	// timerPostponed is set if Next follows although there are no attempts.
	timerPostponed = 0x40
	timerRunning   = 1
	timerDead      = 2

	extraStarted   = 1 // the bits of an Extra
	extraDebounced = 2 // Since follows
	extraPaused    = 4
)

// Append appends the encoding of the timer to b, without its Home.
func (t *Timer) Append(b []byte) []byte {
	flags := byte(0)
	switch {
	case t.Dead:
		flags = timerDead
	case t.Running:
		flags = timerRunning
	}
	if t.Wall {
		flags |= timerWall
	}
	if t.Extra != (Extra{}) {
		flags |= timerExtra
	}
	if t.Attempt == 0 && t.Next != 0 {
		flags |= timerPostponed
	}
	b = append(b, flags)
	b = binary.LittleEndian.AppendUint64(b, t.ID.Owner)
	b = binary.AppendUvarint(b, t.ID.Number)
	b = binary.AppendVarint(b, t.Due)
	b = binary.AppendUvarint(b, uint64(t.Attempt))
	if t.Attempt > 0 || t.Next != 0 {
		b = binary.AppendVarint(b, t.Next)
	}
	b = frame.AppendBytes(b, t.Key)
	b = frame.AppendBytes(b, t.Value)
	if flags&timerExtra != 0 {
		b = t.Extra.append(b)
	}
	return b
}

func (e *Extra) append(b []byte) []byte {
	b = frame.AppendBytes(b, e.Schedule)
	b = frame.AppendBytes(b, e.Trace)
	b = binary.AppendUvarint(b, uint64(e.Missed))
	flags := byte(0)
	if e.Started {
		flags |= extraStarted
	}
	if e.Debounced {
		flags |= extraDebounced
	}
	if e.Paused {
		flags |= extraPaused
	}
	b = append(b, flags)
	b = frame.AppendBytes(b, e.LastError)
	b = binary.AppendVarint(b, e.Failed)
	if e.Debounced {
		b = binary.AppendVarint(b, e.Since)
	}
	return b
}

// Size returns an upper bound for the number of bytes that Append appends.
func (t *Timer) Size() int {
	return 100 + len(t.Key) + len(t.Value) + len(t.Schedule) + len(t.Trace) + len(t.LastError)
}

// ReadTimer decodes a timer that Append has encoded.
func ReadTimer(r *frame.Reader) (t Timer) {
	flags := r.Byte()
	t.Wall = flags&timerWall != 0
	switch flags & timerState {
	case timerRunning:
		t.Running = true
	case timerDead:
		t.Dead = true
	}
	t.ID = frame.ID{Owner: r.Fixed(), Number: r.Uvarint()}
	t.Due = r.Varint()
	postponed := flags&timerPostponed != 0
	if t.Attempt = readUint32(r); t.Attempt > 0 || postponed {
		t.Next = r.Varint()
	}
	if postponed && (t.Attempt > 0 || t.Next == 0) {
		r.Fail()
	}
	t.Key, t.Value = string(r.Bytes()), string(r.Bytes())
	if flags&timerExtra != 0 {
		t.Extra = readExtra(r)
	}
	if flags&timerState > timerDead || flags&^(timerState|timerWall|timerExtra|timerPostponed) != 0 {
		r.Fail()
	}
	return t
}

func readExtra(r *frame.Reader) (e Extra) {
	e.Schedule, e.Trace, e.Missed = string(r.Bytes()), string(r.Bytes()), readUint32(r)
	flags := r.Byte()
	e.Started, e.Debounced, e.Paused = flags&extraStarted != 0, flags&extraDebounced != 0, flags&extraPaused != 0
	e.LastError, e.Failed = string(r.Bytes()), r.Varint()
	if e.Debounced {
		e.Since = r.Varint()
	}
	if flags&^(extraStarted|extraDebounced|extraPaused) != 0 || e.Paused && e.Schedule == "" || e == (Extra{}) {
		r.Fail()
	}
	return e
}

func readUint32(r *frame.Reader) uint32 {
	n := r.Uvarint()
	if n > math.MaxUint32 {
		r.Fail()
	}
	return uint32(n)
}
