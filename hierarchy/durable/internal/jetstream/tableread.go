package jetstream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Get reads from the leader. KeyValue's Get may be answered by a replica that is behind, and does not return the
// revision of a deletion.
func (s *Table) Get(ctx context.Context, key string) (storage.Record, error) {
	r, absent := storage.Record{Key: key}, fmt.Errorf("%w: %q", storage.ErrAbsent, key)
	m, err := getMessage(ctx, s.nc, "KV_"+s.name, which{LastOf: s.subject(key)})
	switch {
	case isNoMessage(err):
		return r, absent
	case err != nil:
		return r, err
	}
	header, err := nats.DecodeHeadersMsg(m.Header)
	if err != nil && len(m.Header) > 0 {
		return r, err
	}
	r.Revision = m.Sequence
	if header.Get(operation) != "" || header.Get(jetstream.MarkerReasonHeader) != "" {
		r.Deleted = true
		return r, absent
	}
	r.Value = append([]byte{}, m.Data...)
	return r, nil
}

func (s *Table) Watch(ctx context.Context) (<-chan storage.Change, error) {
	ctx, cancel := context.WithCancel(ctx)
	w, err := s.bucket.WatchAll(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	changes := make(chan storage.Change)
	go pass(ctx, cancel, w, changes)
	return changes, nil
}

// pass passes changes on until ctx is done or the watch ends.
func pass(ctx context.Context, cancel func(), w jetstream.KeyWatcher, changes chan<- storage.Change) {
	defer cancel()
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

// drain ends the watch, and receives what still arrives: otherwise the watcher would wait for its reader for ever.
func drain(w jetstream.KeyWatcher) {
	_ = w.Stop()
	for range w.Updates() {
	}
}

// changeOf converts an entry of a watcher. The watcher sends nil after it has sent all records that existed.
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
