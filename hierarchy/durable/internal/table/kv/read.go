package kv

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/table"
)

// longest is how long an answer may take, if the context allows more.
const longest = 5 * time.Second

// codeNoMessage is JetStream's code for a message that is absent.
const codeNoMessage = 10037

// stored is JetStream's answer to a request for a message.
type stored struct {
	Error *struct {
		Code        int    `json:"err_code"`
		Description string `json:"description"`
	} `json:"error"`
	Message struct {
		Sequence uint64 `json:"seq"`
		Header   []byte `json:"hdrs"`
		Data     []byte `json:"data"`
	} `json:"message"`
}

// Get implements table.Store. It asks the leader: KeyValue's Get may be answered by a replica that is
// behind, and does not tell the revision of a deletion.
func (s *Store) Get(ctx context.Context, key string) (table.Record, error) {
	absent := fmt.Errorf("%w: %q", table.ErrAbsent, key)
	a, err := s.latest(ctx, key)
	switch {
	case err != nil:
		return table.Record{Key: key}, err
	case a.Error != nil && a.Error.Code == codeNoMessage:
		return table.Record{Key: key}, absent
	case a.Error != nil:
		return table.Record{Key: key}, fmt.Errorf("JetStream: %s (%d)", a.Error.Description, a.Error.Code)
	}
	r := table.Record{Key: key, Revision: a.Message.Sequence}
	header, err := nats.DecodeHeadersMsg(a.Message.Header)
	if err != nil && len(a.Message.Header) > 0 {
		return table.Record{Key: key}, err
	}
	if header.Get(operation) != "" || header.Get(jetstream.MarkerReasonHeader) != "" {
		r.Deleted = true
		return r, absent
	}
	r.Value = append([]byte{}, a.Message.Data...)
	return r, nil
}

// latest asks for the last message of a key.
func (s *Store) latest(ctx context.Context, key string) (a stored, err error) {
	request, _ := json.Marshal(struct {
		Subject string `json:"last_by_subj"`
	}{"$KV." + s.name + "." + key})
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	m, err := s.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET.KV_"+s.name, request)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(m.Data, &a)
}

// Watch implements table.Store.
func (s *Store) Watch(ctx context.Context) (<-chan table.Change, error) {
	ctx, cancel := context.WithCancel(ctx)
	w, err := s.bucket.WatchAll(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	changes := make(chan table.Change)
	go func() {
		defer cancel()
		pass(ctx, w, changes)
	}()
	return changes, nil
}

// pass passes changes on until ctx is done or the watch ends.
func pass(ctx context.Context, w jetstream.KeyWatcher, changes chan<- table.Change) {
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
			case changes <- change(entry):
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

// change is what an entry of the watcher tells. The watcher says with nil that all has come.
func change(entry jetstream.KeyValueEntry) table.Change {
	if entry == nil {
		return table.Change{All: true}
	}
	r := table.Record{Key: entry.Key(), Revision: entry.Revision()}
	if entry.Operation() == jetstream.KeyValuePut {
		r.Value = append([]byte{}, entry.Value()...)
	} else {
		r.Deleted = true
	}
	return table.Change{Record: r}
}
