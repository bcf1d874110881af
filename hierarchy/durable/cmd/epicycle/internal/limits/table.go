package limits

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Table keeps limits in the table that servers share, a record for each. A server follows their changes.
type Table struct {
	table   storage.Table
	logger  *slog.Logger
	changed func(All)
	stop    context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex
	all       All
	revisions map[string]uint64 // by the key of the record
	unseen    map[string]int    // in how many watches a record was not among the first ones
}

const (
	recordPrefix = "limit."
	// watchTime is after how long a new watch is begun, since one can fall silent without an error. What a silent one
	// has not told is late by that.
	watchTime = 10 * time.Second
	retryTime = 250 * time.Millisecond
)

// OpenTable calls changed with the limits of a table, and after each change, by whichever server. It returns when the table
// was read.
func OpenTable(ctx context.Context, table storage.Table, logger *slog.Logger, changed func(All)) (*Table, error) {
	t := &Table{table: table, logger: logger, changed: changed, all: make(All), revisions: make(map[string]uint64), unseen: make(map[string]int)}
	var life context.Context
	life, t.stop = context.WithCancel(context.Background())
	read := make(chan struct{})
	t.running.Go(func() { t.follow(life, sync.OnceFunc(func() { close(read) })) })
	select {
	case <-read:
		return t, nil
	case <-ctx.Done():
		t.Close()
		return nil, ctx.Err()
	}
}

// Close implements Keeper.
func (t *Table) Close() {
	t.stop()
	t.running.Wait()
}

// follow follows the table. It calls read when it has read all of it.
func (t *Table) follow(ctx context.Context, read func()) {
	for ctx.Err() == nil {
		watch, cancel := context.WithTimeout(ctx, watchTime)
		changes, err := t.table.Watch(watch)
		if err != nil {
			t.logger.Debug("epicycle: the watch of the limits", "err", err)
		} else if t.take(watch, changes, read) {
			cancel()
			continue
		}
		cancel()
		select {
		case <-time.After(retryTime):
		case <-ctx.Done():
		}
	}
}

// take applies changes until the watch ends. It reports whether it has seen all records.
func (t *Table) take(ctx context.Context, changes <-chan storage.Change, read func()) (whole bool) {
	seen := make(map[string]bool)
	for {
		select {
		case c, ok := <-changes:
			switch {
			case !ok:
				return whole
			case c.All:
				whole = true
				t.forget(seen)
				read()
			case strings.HasPrefix(c.Key, recordPrefix):
				seen[c.Key] = true
				t.apply(c.Record)
			}
		case <-ctx.Done():
			return whole
		}
	}
}

// forget drops limits that two watches one after the other have not shown: the table has forgotten their deletion by now.
func (t *Table) forget(seen map[string]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := maps.Clone(t.all)
	for s := range t.all {
		key := keyOf(s)
		if t.unseen[key]++; seen[key] {
			delete(t.unseen, key)
		} else if t.unseen[key] > 1 {
			delete(t.unseen, key)
			delete(t.revisions, key)
			delete(all, s)
		}
	}
	if len(all) < len(t.all) {
		t.all = all
		t.changed(all)
	}
}

// apply takes a record over, unless a later one is known.
func (t *Table) apply(r storage.Record) {
	s, ok := scopeOf(r.Key)
	if !ok {
		return
	}
	var l Limit
	if !r.Deleted {
		if err := json.Unmarshal(r.Value, &l); err != nil || l.Check() != nil {
			t.logger.Warn("epicycle: a limit can't be read", "kind", s.Kind, "err", err) // a name may be a key
			l = Limit{Paused: true}                                                      // rather than none
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.revisions[r.Key] >= r.Revision {
		return
	}
	t.revisions[r.Key] = r.Revision
	if t.all[s] == l {
		return
	}
	t.all = maps.Clone(t.all)
	if delete(t.all, s); !l.IsZero() {
		t.all[s] = l
	}
	t.changed(t.all)
}

// Change implements Keeper.
func (t *Table) Change(ctx context.Context, s Scope, f func(Limit) (Limit, error)) (l Limit, err error) {
	for {
		if l, err = t.change(ctx, s, f); !errors.Is(err, storage.ErrRefused) || ctx.Err() != nil {
			return l, err
		}
	}
}

// change is Change. Its error is ErrRefused if another one came first.
func (t *Table) change(ctx context.Context, s Scope, f func(Limit) (Limit, error)) (Limit, error) {
	key := keyOf(s)
	r, err := t.table.Get(ctx, key)
	if err != nil && !errors.Is(err, storage.ErrAbsent) {
		return Limit{}, unkept(err)
	}
	if err == nil {
		t.apply(r)
	}
	t.mu.Lock()
	all := maps.Clone(t.all)
	t.mu.Unlock()
	if errors.Is(err, storage.ErrAbsent) {
		delete(all, s)
	}
	_, l, err := all.with(s, f)
	switch {
	case err != nil:
		return l, err
	case l.IsZero() && r.Value == nil:
		return l, nil
	case l.IsZero():
		if err = t.table.Delete(ctx, key, r.Revision); err == nil {
			t.apply(storage.Record{Key: key, Deleted: true, Revision: r.Revision + 1}) // or a later one, as the watch tells
		}
		return l, unkept(err)
	}
	value, err := json.Marshal(l)
	if err != nil {
		return l, err
	}
	revision, err := t.table.Put(ctx, key, value, r.Revision)
	if err == nil {
		t.apply(storage.Record{Key: key, Value: value, Revision: revision})
	}
	return l, unkept(err)
}

// unkept returns an error of the table as one of a Keeper.
func unkept(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnkept, err)
}

// The key of a record has the kind, and the name in letters that keys may have.

func keyOf(s Scope) string {
	return recordPrefix + string(s.Kind) + "." + base64.RawURLEncoding.EncodeToString([]byte(s.Name))
}

func scopeOf(key string) (s Scope, ok bool) {
	kind, text, _ := strings.Cut(strings.TrimPrefix(key, recordPrefix), ".")
	name, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return s, false
	}
	s, err = Parse(kind, string(name))
	return s, err == nil && keyOf(s) == key
}
