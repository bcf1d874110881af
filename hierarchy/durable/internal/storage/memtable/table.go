// Package memtable is a table in memory, for tests. It is as reliable as servers and a network can be
// at their worst: calls come late or never, answers are lost or wrong, what is read is old, watches
// fall silent, and processes stand still.
package memtable

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Table is the table itself. Several Stores share it, as processes do. Make it with new.
type Table struct {
	mu       sync.Mutex
	revision uint64
	log      []storage.Record // all that was ever written, less what Expire took out
	kept     int              // how long log was after the last compact
	watches  map[*watch]bool
	deleted  map[string]time.Time // when keys were deleted last
}

// Open returns a new connection.
func (t *Table) Open() *Store { return &Store{table: t, running: make(chan struct{})} }

// Expire forgets the deletions that are so old, as a table does after an hour.
func (t *Table) Expire(age time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var kept []storage.Record
	for _, r := range t.log {
		if last, _ := t.get(r.Key, t.revision); !last.Deleted || time.Since(t.deleted[r.Key]) < age {
			kept = append(kept, r)
		}
	}
	t.log = kept
}

// All returns the records that are there now.
func (t *Table) All() (all []storage.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.snapshot(t.revision) {
		if !r.Deleted {
			all = append(all, r)
		}
	}
	return all
}

// get returns what key was when the table had that revision. t must be locked.
func (t *Table) get(key string, revision uint64) (storage.Record, error) {
	for _, r := range slices.Backward(t.log) {
		if r.Key != key || r.Revision > revision {
			continue
		}
		if r.Deleted {
			return r, fmt.Errorf("%w: %q", storage.ErrAbsent, key)
		}
		r.Value = slices.Clone(r.Value)
		return r, nil
	}
	return storage.Record{Key: key}, fmt.Errorf("%w: %q", storage.ErrAbsent, key)
}

// snapshot returns the last record of each key when the table had that revision. t must be locked.
func (t *Table) snapshot(revision uint64) (all []storage.Record) {
	replaced := make(map[string]bool)
	for _, r := range slices.Backward(t.log) {
		if r.Revision <= revision && !replaced[r.Key] {
			replaced[r.Key] = true
			all = append(all, r)
		}
	}
	slices.Reverse(all)
	return all
}

// put writes r, if its key has the revision last.
func (t *Table) put(r storage.Record, last uint64) (uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now, _ := t.get(r.Key, t.revision); now.Revision != last {
		return 0, fmt.Errorf("%w: %q has %d, not %d", storage.ErrRefused, r.Key, now.Revision, last)
	}
	t.revision++
	r.Revision = t.revision
	t.log = append(t.log, r)
	if r.Deleted {
		if t.deleted == nil {
			t.deleted = make(map[string]time.Time)
		}
		t.deleted[r.Key] = time.Now()
	}
	t.compact()
	r.Time = time.Now() // of the real clock, or of a bubble
	for w := range t.watches {
		w.add(storage.Change{Record: r})
	}
	return r.Revision, nil
}

// history is how many changes the table remembers for answers that are old.
const history = 64

// compact takes out what is too old for any answer. t must be locked.
func (t *Table) compact() {
	if len(t.log) < max(4*history, 2*t.kept) || t.revision < history {
		return
	}
	old := t.snapshot(t.revision - history)
	i := slices.IndexFunc(t.log, func(r storage.Record) bool { return r.Revision > t.revision-history })
	t.log = append(old, t.log[i:]...)
	t.kept = len(t.log)
}

// before returns the revision that the table had so many changes ago. t must be locked.
func (t *Table) before(changes uint64) uint64 {
	return t.revision - min(changes, t.revision, history)
}

// Fault is what goes wrong with one call. The zero Fault is nothing.
type Fault struct {
	Before time.Duration // the call arrives so much later, also if its context has ended
	After  time.Duration // the answer comes so much later
	Drop   bool          // the call never arrives
	Lose   bool          // the answer never comes
	Err    error         // this is the answer, whatever was done
	Behind uint64        // what is read does not have so many of the last changes
}

// Call is what a Fault is for.
type Call struct{ Op, Key string } // Op: put, delete, get, watch

// answer is what a call returns.
type answer struct {
	record storage.Record
	err    error
}
