package jetstream

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream/jetstreamtest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

func connect(t *testing.T) *nats.Conn {
	s, err := servers.OpenLocal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s.Conn()
}

// What is published has the sequence that is returned, and the leader has it as it was published.
func TestMessages(t *testing.T) {
	nc, ctx := connect(t), t.Context()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "x", Subjects: []string{"x.*"}})
	require.NoError(t, err)
	for want, subject := range []string{"x.a", "x.a", "x.b"} {
		m := &nats.Msg{Subject: subject, Data: []byte{byte(want)}, Header: nats.Header{"Key": {subject}}}
		n, err := send(ctx, nc, m)
		require.NoError(t, err)
		require.Equal(t, uint64(want+1), n)
	}
	last, err := getMessage(ctx, nc, "x", which{LastOf: "x.a"})
	require.NoError(t, err)
	require.Equal(t, uint64(2), last.Sequence)
	require.Equal(t, []byte{1}, last.Data)
	header, err := nats.DecodeHeadersMsg(last.Header)
	require.NoError(t, err)
	require.Equal(t, "x.a", header.Get("Key"))
	first, err := getMessage(ctx, nc, "x", which{Sequence: 1, NextOf: "x.b"})
	require.NoError(t, err)
	require.Equal(t, uint64(3), first.Sequence)
	first, err = getMessage(ctx, nc, "x", which{Sequence: 1, NextOf: "x.a"})
	require.NoError(t, err)
	require.Equal(t, uint64(1), first.Sequence)
	same, err := getMessage(ctx, nc, "x", which{Sequence: 2})
	require.NoError(t, err)
	require.Equal(t, last, same)

	_, err = getMessage(ctx, nc, "x", which{Sequence: 4})
	require.True(t, isNoMessage(err), err)
	_, err = getMessage(ctx, nc, "x", which{LastOf: "x.c"})
	require.True(t, isNoMessage(err), err)
	_, err = getMessage(ctx, nc, "y", which{LastOf: "x.a"})
	require.True(t, isNoStream(err), err)
	m := nats.NewMsg("x.a")
	m.Header.Set(nats.ExpectedLastSeqHdr, "2")
	_, err = send(ctx, nc, m)
	require.True(t, isRefused(err), err)
	require.ErrorContains(t, err, "JetStream: wrong last sequence: 3 (10071)")
}

// A request without an answer says why.
func TestNoAnswer(t *testing.T) {
	nc := connect(t)
	_, err := send(t.Context(), nc, nats.NewMsg("nobody"))
	require.ErrorIs(t, err, nats.ErrNoResponders)
	require.ErrorContains(t, err, "no server answers for JetStream")

	asked := make(chan bool, 1)
	sub, err := nc.Subscribe("silent", func(*nats.Msg) { asked <- true })
	require.NoError(t, err)
	defer func() { _ = sub.Unsubscribe() }()
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-asked
		cancel(why)
	}()
	_, err = send(ctx, nc, nats.NewMsg("silent"))
	require.Equal(t, why, err)
}

// An answer that is not JetStream's is an error.
func TestStrangeAnswer(t *testing.T) {
	nc := connect(t)
	sub, err := nc.Subscribe("strange", func(m *nats.Msg) { _ = m.Respond([]byte("+OK")) })
	require.NoError(t, err)
	defer func() { _ = sub.Unsubscribe() }()
	_, err = send(t.Context(), nc, nats.NewMsg("strange"))
	require.ErrorContains(t, err, "an answer that is not understood")
}

// A request waits for its answer for a while, and no longer than its context.
func TestSlowAnswer(t *testing.T) {
	const before, after = 4 * time.Second, 6 * time.Second
	for name, c := range map[string]struct{ ctx, takes, err time.Duration }{
		"in time":                  {takes: before},
		"too late":                 {takes: after, err: answerTime},
		"in time for its context":  {ctx: before + 1, takes: before},
		"too late for its context": {ctx: before - 1, takes: before, err: -1},
		"its context allows more":  {ctx: time.Hour, takes: after, err: answerTime},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nc := jetstreamtest.Connect(t, func(string) string { time.Sleep(c.takes); return `{"seq":7}` })
				ctx := t.Context()
				if c.ctx > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.ctx)
					defer cancel()
				}
				begun := time.Now()
				n, err := send(ctx, nc, nats.NewMsg("x"))
				switch c.err {
				case 0:
					require.NoError(t, err)
					require.EqualValues(t, 7, n)
					require.Equal(t, c.takes, time.Since(begun))
				case -1:
					require.Equal(t, context.DeadlineExceeded, err)
				default:
					require.Equal(t, fmt.Sprintf("JetStream has not answered within %v", c.err), err.Error())
					require.True(t, isUnready(err))
					require.Equal(t, c.err, time.Since(begun))
				}
			})
		})
	}
}
