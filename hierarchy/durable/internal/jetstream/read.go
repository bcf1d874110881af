package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

const (
	// A portion has at most atOnce messages and about mostBytes bytes. All logs of a process may be read concurrently,
	// and a server drops the connection of a client to which more than 64 MiB are on their way, so there are at most
	// portions of them at a time.
	atOnce    = 1024
	mostBytes = 1 << 20
	portions  = 8
	// patience limits the wait for the next message of a portion. Messages that were on their way when a connection was
	// lost never arrive.
	patience = 3 * time.Second
)

// read reads messages by requests for portions. Any replica of the stream answers them. A message may be absent only
// because that replica is behind, so read asks the leader for it before it returns an error.
func (l *Log) read(ctx context.Context, from, to uint64, portion int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if from > to {
			return
		}
		r := reading{log: l, next: from, to: to}
		defer r.end()
		for r.next <= r.to {
			got, err := r.portion(ctx, portion)
			if errors.Is(err, storage.ErrAbsent) || errors.Is(err, nats.ErrNoResponders) {
				got, err = r.fromLeader(ctx, got)
			}
			for _, data := range got {
				if !yield(data, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// reading is one call of read.
type reading struct {
	log      *Log
	sub      *nats.Subscription // nil before the first portion, and after a portion that was interrupted
	next, to uint64
	got      [][]byte
	silent   int // the number of portions in a row without a message
}

func (r *reading) end() {
	if r.sub != nil {
		_ = r.sub.Unsubscribe()
		r.sub = nil
	}
}

// begin subscribes to a new inbox, unless r has one. Messages that still arrive at an earlier inbox are ignored.
func (r *reading) begin() (err error) {
	if r.sub != nil {
		return nil
	}
	if r.sub, err = r.log.nc.SubscribeSync(r.log.nc.NewRespInbox()); err == nil {
		_ = r.sub.SetPendingLimits(-1, -1) // the requests limit how much can arrive
	}
	return err
}

// portion requests messages and returns those that arrive, until a message is absent, or ctx is done.
func (r *reading) portion(ctx context.Context, n int) ([][]byte, error) {
	select {
	case r.log.portions <- struct{}{}:
		defer func() { <-r.log.portions }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	request, _ := json.Marshal(struct {
		Sequence uint64 `json:"seq"`
		Batch    uint64 `json:"batch"`
		MaxBytes int    `json:"max_bytes"`
	}{r.next, min(uint64(n), r.to-r.next+1), mostBytes})
	if err := r.log.nc.PublishRequest("$JS.API.DIRECT.GET."+r.log.stream, r.sub.Subject, request); err != nil {
		return nil, err
	}
	r.got = r.got[:0]
	for begun := r.next; ; {
		m, err := r.message(ctx)
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) { // try again
			r.end()
			return r.got, r.silence()
		}
		if err != nil {
			return r.got, unanswered(err)
		}
		done, err := r.take(m, begun)
		if done || err != nil {
			return r.got, err
		}
	}
}

// fromLeader gets from the leader a message that is absent elsewhere, and appends it to got. It also gets a message
// whose headers make nats.go take it for the response that there is no responder, since strangers may publish any
// headers. It ignores what is still on its way from other replicas.
func (r *reading) fromLeader(ctx context.Context, got [][]byte) ([][]byte, error) {
	r.end()
	ctx, cancel := context.WithTimeout(ctx, silences*r.log.patience)
	defer cancel()
	m, err := getMessage(ctx, r.log.nc, r.log.stream, which{Sequence: r.next})
	if err != nil {
		return got, meant(err)
	}
	r.next++
	return append(got, m.Data), nil
}

// silences is the largest number of portions in a row without a message. A server that has found its files damaged may
// not answer at all.
const silences = 5

// silence counts a portion that was interrupted. It returns an error if too many in a row had no message.
func (r *reading) silence() error {
	if r.silent++; len(r.got) > 0 {
		r.silent = 0
	}
	if r.silent < silences {
		return nil
	}
	return fmt.Errorf("JetStream does not answer the request for message %d", r.next)
}

// message waits for the next message of the portion.
func (r *reading) message(ctx context.Context) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, r.log.patience)
	defer cancel()
	return r.sub.NextMsgWithContext(ctx)
}

// take takes a message of a portion that began with number begun. It reports whether the portion has ended.
func (r *reading) take(m *nats.Msg, begun uint64) (done bool, err error) {
	sequences := m.Header["Nats-Sequence"] // the server's is the last one: a stranger's message may have any headers
	switch status := m.Header.Get("Status"); {
	case len(sequences) > 0:
	case status == "204":
		if r.next == begun {
			err = r.absent()
		}
		return true, err
	case status == "404":
		return true, r.absent()
	case status != "":
		return true, fmt.Errorf("JetStream: status %s for message %d", status, r.next)
	}
	if r.next > r.to {
		return false, nil // the end of the portion follows
	}
	if len(sequences) == 0 || sequences[len(sequences)-1] != strconv.FormatUint(r.next, 10) {
		return true, r.absent()
	}
	r.next++
	r.got = append(r.got, m.Data)
	return false, nil
}

func (r *reading) absent() error { return fmt.Errorf("%w: %d", storage.ErrAbsent, r.next) }
