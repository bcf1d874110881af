package remote

import (
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Each call of a message learns the IDs and due times of its own timers, also beside one that was given up.
func TestAnswersOfOneMessage(t *testing.T) {
	b := newBench(t)
	l := b.client().lanes[0]
	asked := [][]core.Op{
		{{Kind: frame.Set}, {Kind: frame.Remove}, {Kind: frame.Move}}, {{Kind: frame.Set}, {Kind: frame.Revive}},
		{{Kind: frame.Remove}, {Kind: frame.MoveAt}, {Kind: frame.SetAt}},
	}
	took := [][]bool{{true, true, false}, {true, true}, {false, true, true}}
	answered := core.Call{Origin: core.Origin{Time: 1000, First: frame.ID{Owner: 7, Number: 50}}}
	m := &message{}
	for i, ops := range asked {
		for j, a := range ops {
			a.Due = int64(2000 + 10*i + j)
			answered.Ops = append(answered.Ops, a)
		}
		answered.Took = append(answered.Took, took[i]...)
		answered.Parts = append(answered.Parts, core.Part{End: len(answered.Ops)})
		m.requests = append(m.requests, &request{call: &core.Call{Ops: ops}, ops: len(ops), ended: i == 1, done: make(chan struct{}, 1)})
	}
	body, retry, err := readAnswer(appendMoment(appendDone(nil, &answered), partition.Moment{Epoch: 1}))
	b.NoError(err)
	b.False(retry)
	l.mu.Lock()
	l.take(m, body)
	l.mu.Unlock()
	for i, want := range map[int]core.Origin{0: answered.Origin, 2: {Time: 1000, First: frame.ID{Owner: 7, Number: 54}}} {
		a := m.requests[i]
		b.True(a.ended)
		b.NoError(a.err)
		b.Equal(took[i], a.call.Took)
		b.Equal(want, a.call.Origin)
		for j := range a.call.Ops {
			want := int64(0)
			if took[i][j] && a.call.Ops[j].Kind.Renews() {
				want = int64(2000 + 10*i + j)
			}
			b.Equal(want, a.call.Ops[j].Due, "%d of %d", j, i)
		}
	}
	b.Zero(m.requests[1].call.Origin) // the caller may have used it for another call
	b.EqualValues(1, l.offset.epoch)
}
