package program

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

func (l *Library) batch(k *Keyed, op *Op) (a Answer) {
	if op.Void {
		return a
	}
	var b durable.Batch[string, string]
	for i := range op.Ops {
		l.add(&b, &op.Ops[i])
	}
	require.NoError(l.t, k.Batch(l.t.Context(), &b))
	for i := range op.Ops {
		require.NoError(l.t, b.Err(i))
		e, _ := b.Entry(i)
		one := l.entry(e, b.Took(i), nil)
		v, _, err := b.Removed(i)
		require.NoError(l.t, err)
		one.Text = v
		a.Each = append(a.Each, one)
	}
	a.OK = true
	return a
}

func (l *Library) add(b *durable.Batch[string, string], op *Op) {
	at := l.at(op)
	switch what := strings.TrimSpace(string(op.Kind) + " " + op.If); {
	case op.Kind == Set && op.At:
		map[string]func(string, string, time.Time){
			"set": b.SetAt, "set absent": b.SetAtIfAbsent, "set sooner": b.SetAtSooner, "set later": b.SetAtLater,
		}[what](op.Key, op.Value, at)
	case op.Kind == Set:
		map[string]func(string, string, time.Duration){
			"set": b.Set, "set absent": b.SetIfAbsent, "set sooner": b.SetSooner, "set later": b.SetLater,
		}[what](op.Key, op.Value, op.In)
	case op.Kind == Debounce:
		b.SetDebounced(op.Key, op.Value, op.In, op.Longest)
	case op.Kind == Schedule:
		b.SetSchedule(op.Key, op.Value, l.schedule(op))
	case op.Kind == Move && op.At:
		b.MoveAt(op.Key, at)
	case op.Kind == Move:
		b.Move(op.Key, op.In)
	default:
		map[Kind]func(string){Remove: b.Remove, Revive: b.Revive, Pause: b.Pause, Resume: b.Resume}[op.Kind](op.Key)
	}
}
