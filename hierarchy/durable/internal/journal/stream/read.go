package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

const (
	// atOnce is how many messages are asked for at once, and mostBytes about how many bytes. All
	// logs of a process may be read together, and the server drops a client to whom more than
	// 64 MiB are on their way.
	atOnce    = 4096
	mostBytes = 4 << 20
)

// read reads messages by requests for portions. Any replica of the stream answers them, so a
// message may be absent only because that replica is behind.
func (l *Log) read(ctx context.Context, from, to uint64, portion int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if from > to {
			return
		}
		inbox := l.nc.NewRespInbox()
		sub, err := l.nc.SubscribeSync(inbox)
		if err != nil {
			yield(nil, err)
			return
		}
		defer sub.Unsubscribe()
		_ = sub.SetPendingLimits(-1, -1) // what comes is limited by what is asked for
		r := reading{l, sub, inbox, from, to}
		for r.next <= r.to {
			if !r.portion(ctx, portion, yield) {
				return
			}
		}
	}
}

// reading is one call of read.
type reading struct {
	log      *Log
	sub      *nats.Subscription
	inbox    string
	next, to uint64
}

// portion asks for messages and yields those that come. It is false if the loop is over.
func (r *reading) portion(ctx context.Context, n int, yield func([]byte, error) bool) bool {
	request, _ := json.Marshal(struct {
		Sequence uint64 `json:"seq"`
		Batch    uint64 `json:"batch"`
		MaxBytes int    `json:"max_bytes"`
	}{r.next, min(uint64(n), r.to-r.next+1), mostBytes})
	if err := r.log.nc.PublishRequest("$JS.API.DIRECT.GET."+r.log.stream, r.inbox, request); err != nil {
		yield(nil, err)
		return false
	}
	for begun := r.next; ; {
		m, err := r.sub.NextMsgWithContext(ctx)
		if err != nil {
			yield(nil, unanswered(err))
			return false
		}
		switch status := m.Header.Get("Status"); status {
		case "":
		case "204": // the end of the portion
			if r.next == begun {
				return r.absent(yield)
			}
			return true
		case "404":
			return r.absent(yield)
		default:
			yield(nil, fmt.Errorf("JetStream: status %s for message %d", status, r.next))
			return false
		}
		if r.next > r.to {
			continue // the end of the portion follows
		}
		if number, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64); err != nil || number != r.next {
			return r.absent(yield)
		}
		r.next++
		if !yield(m.Data, nil) {
			return false
		}
	}
}

func (r *reading) absent(yield func([]byte, error) bool) bool {
	yield(nil, fmt.Errorf("%w: %d", journal.ErrAbsent, r.next))
	return false
}
