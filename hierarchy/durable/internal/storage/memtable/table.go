// Package memtable provides a table in memory, for tests. It is as unreliable as servers and a network can be: calls
// arrive late or never, answers are lost or wrong, reads are stale, watches fall silent, and processes stand still.
package memtable

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Table is the table itself. Several Stores, one for each process, share it. Make it with new.
type Table struct {
	mu       sync.Mutex
	revision uint64
	log      []storage.Record // all records that were ever written, except those that Expire has removed
	kept     int              // how long log was after the last compact
	watches  []*watch
	deleted  map[string]time.Time // when each key was last deleted
}

// Open returns a new connection.
func (t *Table) Open() *Store { return &Store{table: t, running: make(chan struct{})} }

// Expire forgets deletions that are at least that old, as a table does after an hour.
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

// All returns the present records.
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

// get returns the record that key had when the table had that revision. t must be locked.
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

// snapshot returns the record that each key had when the table had that revision. t must be locked.
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
	r.Time = time.Now() // by the real clock, or that of a bubble
	for _, w := range t.watches {
		w.add(storage.Change{Record: r})
	}
	return r.Revision, nil
}

// history is how many changes the table remembers, in order to answer with stale records.
const history = 64

// compact removes records that are too old for any answer. t must be locked.
func (t *Table) compact() {
	if len(t.log) < max(4*history, 2*t.kept) || t.revision < history {
		return
	}
	old := t.snapshot(t.revision - history)
	i := slices.IndexFunc(t.log, func(r storage.Record) bool { return r.Revision > t.revision-history })
	t.log = append(old, t.log[i:]...)
	t.kept = len(t.log)
}

// before returns the revision that the table had that many changes ago. t must be locked.
func (t *Table) before(changes uint64) uint64 {
	return t.revision - min(changes, t.revision, history)
}

// Fault is what goes wrong with one call. The zero Fault means nothing.
type Fault struct {
	Before time.Duration // how much later the call arrives, even if its context has ended
	After  time.Duration // how much later the answer arrives
	Drop   bool          // the call never arrives
	Lose   bool          // the answer never arrives
	Err    error         // the answer, whatever was done
	Behind uint64        // how many of the last changes are missing in what is read
}

// Call describes a call for which a Fault is requested.
type Call struct{ Op, Key string } // Op: put, delete, get, watch

// answer is what a call returns.
type answer struct {
	record storage.Record
	err    error
}
