// Package storage defines the interfaces to what stores the timers and connects the processes that share them: the Log
// of a partition, a Table of who lives and who owns which partition, and a Bus for messages. A storage is a package
// that implements these interfaces.
package storage

import "errors"

// The errors of a Log and a Table. They are wrapped.
var (
	// ErrRefused means that the log does not end where it was expected to, or that the record has another revision. It
	// decides nothing if the response to an earlier copy of the same call was lost: that copy may have succeeded.
	// Patience.Commit finds out.
	ErrRefused = errors.New("another write came first")
	// ErrAbsent means that there is no such message or record now. There may be one later.
	ErrAbsent = errors.New("not found")
)

// Set is a storage for the processes that share the timers of a name.
type Set struct {
	Partitions int
	Logs       []Log // by partition. Nil for a process that owns none
	Table      Table // has who owns them
	Bus        Bus   // between these processes
}
