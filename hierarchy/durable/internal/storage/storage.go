// Package storage has the interfaces of what keeps the timers and connects the processes that share them: the Log of a
// partition, a Table of who lives and who owns which partition, and a Bus of messages. A storage is a package that
// implements them.
package storage

import "errors"

// The errors of a Log and a Table. They are wrapped.
var (
	// ErrRefused: the log does not end where it was expected to, or the record has another revision. It decides nothing
	// if the response to an earlier copy of the same call was lost: that copy may have been done. Patience.Commit finds out.
	ErrRefused = errors.New("another write came first")
	// ErrAbsent: there is no such message or record now. It decides nothing about later.
	ErrAbsent = errors.New("not found")
)

// Set is what a storage has for the processes that share the timers of a name.
type Set struct {
	Partitions int
	Logs       []Log // of each partition. Nil for a process that owns none
	Table      Table // says who owns them
	Bus        Bus   // between these processes
}
