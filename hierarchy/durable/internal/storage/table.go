package storage

import (
	"context"
	"time"
)

// Table is a small table that the processes of a cluster share: records by key, each with a revision, changed by
// compare-and-set only, and watched for changes. Its methods may be called concurrently. An error that is not one of this
// package means that nothing is known: the call may have been done, or be done later. What Get and Watch return may be old:
// only a Put or a Delete that was done shows what there was when it was done.
type Table interface {
	// Put sets the value of key, if its revision is last, and returns the revision that it has now.
	// A key that never was there has revision 0. A key that was deleted has the revision of its
	// deletion, for an hour at least. Put keeps no reference to value.
	Put(ctx context.Context, key string, value []byte, last uint64) (uint64, error)
	// Delete deletes key, if its revision is last. With last 0 it succeeds only if the key has never been there, and
	// from then on a Put with last 0 is refused.
	Delete(ctx context.Context, key string, last uint64) error
	// Get returns the record of key, which belongs to the caller. If there is none, the error is
	// ErrAbsent, and the record has the revision of the deletion, or 0 if that is not known.
	Get(ctx context.Context, key string) (Record, error)
	// Watch returns a channel of all records, then of each change, deletions included, until ctx is
	// done. The changes of one key come in order, and those that were replaced meanwhile may be left
	// out. The channel is closed when the watch has ended. That can be before ctx is done, and the
	// watch can fall silent for good without an end. Nobody needs to read on once ctx is done.
	Watch(ctx context.Context) (<-chan Change, error)
}

// Record is one record of the table.
type Record struct {
	Key      string
	Value    []byte // nil if Deleted
	Revision uint64 // unique in the table, and higher than all before it
	Deleted  bool
	Time     time.Time // when the table took it, by its clock. Only a Watch sets it, for what changes while it lasts
}

// Change is what a watch sends. If All is true, it has no record: all that was there when the watch
// began has come.
type Change struct {
	Record
	All bool
}
