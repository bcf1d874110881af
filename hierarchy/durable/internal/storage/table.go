package storage

import (
	"context"
	"time"
)

// Table is a small table that the processes of a cluster share: records by key, each with a revision, that are changed
// only by compare-and-set, and that can be watched for changes. Its methods may be called concurrently. An error that
// is not one of this package leaves the outcome unknown: the call may have succeeded, or may succeed later. The results
// of Get and Watch may be stale. Only the success of a Put or a Delete shows what the record was at that moment.
type Table interface {
	// Put sets the value of key, if the key's revision is last, and returns the new revision. A key that has never
	// existed has revision 0. A key that was deleted has the revision of its deletion, for at least an hour. Put keeps
	// no reference to value.
	Put(ctx context.Context, key string, value []byte, last uint64) (uint64, error)
	// Delete deletes key, if the key's revision is last. With last 0 it succeeds only if the key has never existed, and
	// from then on a Put with last 0 is refused.
	Delete(ctx context.Context, key string, last uint64) error
	// Get returns the record of key, which belongs to the caller. If there is none, the error is ErrAbsent, and the
	// record has the revision of the deletion, or 0 if that is not known.
	Get(ctx context.Context, key string) (Record, error)
	// Watch returns a channel that receives all records, then each change, deletions included, until ctx is done. The
	// changes of one key arrive in order, and some that were replaced meanwhile may be left out. The channel is closed
	// when the watch has ended. That can be before ctx is done, and the watch can also fall silent for good without
	// ending. Once ctx is done, nobody needs to read from the channel.
	Watch(ctx context.Context) (<-chan Change, error)
}

// Record is one record of the table.
type Record struct {
	Key      string
	Value    []byte // nil if Deleted
	Revision uint64 // unique in the table, and higher than all earlier ones
	Deleted  bool
	Time     time.Time // when the table stored it, by its clock. Only a Watch sets it, for changes since it began
}

// Change is what a watch sends. If All is true, it has no record, and all records have been sent that existed when the
// watch began.
type Change struct {
	Record
	All bool
}
