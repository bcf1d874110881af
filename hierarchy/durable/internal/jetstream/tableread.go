package jetstream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Get implements storage.Table. It reads from the leader: KeyValue's Get may be answered by a replica that is
// behind, and does not tell the revision of a deletion.
func (s *Table) Get(ctx context.Context, key string) (storage.Record, error) {
	absent := fmt.Errorf("%w: %q", storage.ErrAbsent, key)
	m, err := lastMessage(ctx, conn{Conn: s.nc}, "KV_"+s.name, s.subject(key))
	switch {
	case isNoMessage(err):
		return storage.Record{Key: key}, absent
	case err != nil:
		return storage.Record{Key: key}, err
	}
	r := storage.Record{Key: key, Revision: m.Sequence}
	header, err := nats.DecodeHeadersMsg(m.Header)
	if err != nil && len(m.Header) > 0 {
		return storage.Record{Key: key}, err
	}
	if header.Get(operation) != "" || header.Get(jetstream.MarkerReasonHeader) != "" {
		r.Deleted = true
		return r, absent
	}
	r.Value = append([]byte{}, m.Data...)
	return r, nil
}

// Watch implements storage.Table.
func (s *Table) Watch(ctx context.Context) (<-chan storage.Change, error) {
	ctx, cancel := context.WithCancel(ctx)
	w, err := s.bucket.WatchAll(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	changes := make(chan storage.Change)
	go func() {
		defer cancel()
		pass(ctx, w, changes)
	}()
	return changes, nil
}

// pass passes changes on until ctx is done or the watch ends.
func pass(ctx context.Context, w jetstream.KeyWatcher, changes chan<- storage.Change) {
	defer close(changes)
	defer drain(w)
	for {
		select {
		case <-ctx.Done():
			return
		case entry, ok := <-w.Updates():
			if !ok {
				return
			}
			select {
			case changes <- changeOf(entry):
			case <-ctx.Done():
				return
			}
		}
	}
}

// drain ends the watch. It takes what still comes, since the watcher waits for its reader, and would
// wait for ever.
func drain(w jetstream.KeyWatcher) {
	_ = w.Stop()
	for range w.Updates() {
	}
}

// changeOf returns what an entry of the watcher tells. The watcher says with nil that all has come.
func changeOf(entry jetstream.KeyValueEntry) storage.Change {
	if entry == nil {
		return storage.Change{All: true}
	}
	r := storage.Record{Key: entry.Key(), Revision: entry.Revision(), Time: entry.Created()}
	if entry.Operation() == jetstream.KeyValuePut {
		r.Value = append([]byte{}, entry.Value()...)
	} else {
		r.Deleted = true
	}
	return storage.Change{Record: r}
}
