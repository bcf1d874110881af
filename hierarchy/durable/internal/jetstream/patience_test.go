package jetstream

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream/jetstreamtest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Each request waits for the same time, also those that make the set.
func TestRequestsHaveOnePatience(t *testing.T) {
	const no = `{"error":{"code":404,"err_code":`
	absent := map[string]string{"INFO": no + `10059}}`, "MSG": no + `10037}}`}
	for name, c := range map[string]struct {
		mute string // the kind of the request that has no answer
		do   func(context.Context, *nats.Conn, *Log) error
	}{
		"find":   {"INFO", open},
		"create": {"CREATE", open},
		"bounds": {"INFO", func(ctx context.Context, _ *nats.Conn, l *Log) error { _, err := l.Bounds(ctx); return err }},
		"trim":   {"PURGE", func(ctx context.Context, _ *nats.Conn, l *Log) error { return l.Trim(ctx, 2) }},
		"mark":   {"MSG", func(ctx context.Context, _ *nats.Conn, l *Log) error { _, err := l.Mark(ctx); return err }},
		"set mark": {"epicycle", func(ctx context.Context, _ *nats.Conn, l *Log) error {
			return l.SetMark(ctx, storage.Mark{Number: 1})
		}},
		"append": {"epicycle", func(ctx context.Context, _ *nats.Conn, l *Log) error { return l.Append(ctx, 0, nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nc := jetstreamtest.Connect(t, func(subject string) string {
					if strings.Contains(subject, c.mute) {
						return ""
					}
					for kind, answer := range absent {
						if strings.Contains(subject, kind) {
							return answer
						}
					}
					return `{"error":{"code":500}}`
				})
				s := &Set{cfg: config(nc)}
				begun := time.Now()
				err := c.do(t.Context(), nc, s.log(0))
				require.True(t, isUnready(err), "%v", err)
				require.Equal(t, answerTime, time.Since(begun))
			})
		})
	}
}

func config(nc *nats.Conn) Config {
	return Config{Conn: nc, Name: "set", Partitions: 1}
}

func open(ctx context.Context, nc *nats.Conn, _ *Log) error {
	_, err := Open(ctx, config(nc))
	return err
}
