package outbox_test

import (
	"context"
	"database/sql"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/program"
	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
	"github.com/epicycle-go/epicycle/tests/long"
)

const poll = 300 * time.Millisecond

// door is the door of an outbox before timers in a directory.
type door struct {
	*program.Library
	database
	t         *testing.T
	w         *program.World
	db        *sql.DB
	box       *box
	stopRelay func()
}

func (d *door) Open(t *testing.T, w *program.World) {
	d.t, d.w = t, w
	d.Library.Open(t, w)
	var err error
	d.db, err = sql.Open(d.Driver, d.Source)
	require.NoError(t, err)
	dialect := d.dialect()
	dialect.Poll = poll
	d.box, err = outbox.New(outbox.Config[string, string]{DB: d.db, Dialect: dialect})
	require.NoError(t, err)
	require.NoError(t, d.box.Create(t.Context()))
	d.stopRelay = relay(t, d.box, d.Library.First())
}

func (d *door) Close() {
	d.stopRelay()
	require.NoError(d.t, d.db.Close())
	d.Library.Close()
}

// Do implements program.Door. An operation is relayed when Do returns.
func (d *door) Do(op *program.Op) program.Answer {
	if op.Kind == program.List {
		return d.Library.Do(op)
	}
	tx := begin(d.t, d.db)
	some := op.Ops
	if op.Kind != program.Batch {
		some = []program.Op{*op}
	}
	for i := range some {
		require.NoError(d.t, d.add(tx, &some[i]))
	}
	if op.Void {
		require.NoError(d.t, tx.Rollback())
	} else {
		require.NoError(d.t, tx.Commit())
	}
	time.Sleep(2 * poll)
	return program.Answer{}
}

func (d *door) add(tx *sql.Tx, op *program.Op) error {
	ctx, at := context.Background(), d.w.Now().Add(op.In)
	switch {
	case op.Kind == program.Remove:
		return d.box.Remove(ctx, tx, op.Key)
	case op.Kind == program.Set && op.At:
		return d.box.SetAt(ctx, tx, op.Key, op.Value, at)
	case op.Kind == program.Set:
		return d.box.Set(ctx, tx, op.Key, op.Value, op.In)
	case op.At:
		return d.box.MoveAt(ctx, tx, op.Key, at)
	}
	return d.box.Move(ctx, tx, op.Key, op.In)
}

// What passes through an outbox has the same effects as calls, once it is committed.
func TestTransactionsAreAsCallsOfTheLibrary(t *testing.T) {
	some := []program.Kind{program.Set, program.Move, program.Remove}
	cfg := program.Config{
		MaxAttempts: 1, Plain: true, Void: true, Kinds: append(some, program.Batch), Batched: some,
		Grid: time.Second, Apart: time.Second,
		Answers: func(op *program.Op, a *program.Answer) {
			if op.Kind != program.List {
				*a = program.Answer{}
			}
		},
	}
	for seed := range uint64(long.Or(4, 100)) {
		want := cfg.Want(t, seed, false)
		synctest.Test(t, func(t *testing.T) {
			d := &door{Library: program.InDirectory(t), database: sqliteIn(t.TempDir())}
			program.Same(t, want, cfg.Run(t, seed, d, nil, seed%2 == 0), "seed %d", seed)
		})
	}
}
