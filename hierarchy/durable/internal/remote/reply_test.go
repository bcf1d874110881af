package remote

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
)

// Who may only ask can't have the owner publish to our subjects, or the server's, by naming one for the answer.
func TestReplySubjectsThatAreNotInboxes(t *testing.T) {
	b := newBench(t)
	b.own()
	got := make(chan *nats.Msg, 100)
	replies := []string{"epicycle." + b.cfg.Name + ".log.0", "epicycle.other.give.1", "$JS.API.STREAM.DELETE.x", "$KV.x.y"}
	for _, reply := range replies {
		sub, err := conn.ChanSubscribe(reply, got)
		b.NoError(err)
		defer sub.Unsubscribe()
		for _, m := range [][]byte{nil, startMessage(nil, lenKind), appendPart(startOps(nil, core.RequestID{Caller: 1, Serial: 1}, 1),
			[]core.Op{setOp("a", "")}, 0)} {
			b.NoError(conn.PublishRequest(b.cfg.subject(0), reply, m))
		}
	}
	m, err := conn.Request(b.cfg.subject(0), startMessage(nil, lenKind), time.Minute)
	b.NoError(err)
	_, _, err = readAnswer(m.Data)
	b.NoError(err)
	b.NoError(conn.Flush())
	b.Empty(got)
}

// A process whose own inboxes are such subjects is told at once, as it would never get an answer.
func TestInvalidInbox(t *testing.T) {
	nc, err := nats.Connect("", nats.InProcessServer(local), nats.CustomInboxPrefix("epicycle.inbox"))
	require.NoError(t, err)
	defer nc.Close()
	_, err = New(Config{Bus: jetstream.NewBus(nc), Name: "x", Partitions: 1})
	require.ErrorIs(t, err, errReply)
	require.ErrorContains(t, err, "epicycle.inbox")
}

// A message says how many parts it has. Memory is for those that have operations.
func TestEmptyParts(t *testing.T) {
	id := core.RequestID{Caller: 1, Serial: 1}
	ask := []core.Op{{Kind: frame.Remove, Key: []byte("a")}}
	for name, m := range map[string][]byte{
		"all empty":     append(startOps(nil, id, 8<<20), make([]byte, 8<<20)...),
		"2,000 empty":   append(startOps(nil, id, 2000), make([]byte, 2000)...),
		"one empty":     appendPart(appendPart(startOps(nil, id, 2), ask, 0), nil, 0),
		"too many":      append(startOps(nil, id, core.MaxOps+1), make([]byte, 3*core.MaxOps)...),
		"nothing in it": startOps(nil, id, 0),
	} {
		require.Less(t, testing.AllocsPerRun(1, func() {
			var call core.Call
			require.ErrorIs(t, readOps(m[atAge:], 0, &call), errMessage, name)
			require.LessOrEqual(t, cap(call.Parts), 3000, name)
		}), 100.0)
	}
}
