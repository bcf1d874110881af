package remote

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// An owner of an earlier version answers several operations without the values that they took out. They were committed.
func TestValuesOfAnEarlierVersion(t *testing.T) {
	b := newBench(t)
	sub, err := conn.Subscribe(b.cfg.subject(0), func(m *nats.Msg) {
		answer := appendFailure(nil, errKind)
		if k, _, body, _ := readKind(m.Data); k == opsKind {
			var call partition.Call
			if err := readOps(body, 0, &call); err == nil {
				call.Took = []bool{true, true}
				answer = appendDone(nil, &call)
			}
		}
		_ = m.Respond(answer)
	})
	b.NoError(err)
	defer func() { b.NoError(sub.Unsubscribe()) }()
	call := b.do(b.client(), removeOp("a"), removeOp("b"))
	b.Equal([]bool{true, true}, call.Took)
	b.Empty(call.Values)
}
