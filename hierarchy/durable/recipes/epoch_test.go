package recipes

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// setPlan gives an account the plan that its timer is for, unless a later owner of the timer has
// given it one already. A process that was paused in here does not undo that when it goes on.
//
//	ALTER TABLE accounts ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0
func setPlan(ctx context.Context, db *sql.DB, f durable.Firing[string, string]) error {
	_, err := db.ExecContext(ctx, "UPDATE accounts SET plan = $1, epoch = $2 WHERE id = $3 AND epoch <= $2",
		f.Value, int64(f.Epoch), f.Key)
	return err
}

func TestLowerEpochIsRefused(t *testing.T) {
	table := &accounts{plan: "gold"}
	db := sql.OpenDB(table)
	defer db.Close()
	for _, f := range []struct {
		plan  string
		epoch uint64
		want  string
	}{
		{"silver", 5, "silver"}, {"silver", 5, "silver"}, {"free", 9, "free"},
		{"silver", 5, "free"}, // the owner of epoch 5 goes on
		{"gold", 9, "gold"},
	} {
		require.NoError(t, setPlan(t.Context(), db, durable.Firing[string, string]{Key: "ann", Value: f.plan, Epoch: f.epoch}))
		require.Equal(t, f.want, table.plan)
	}
}

// The epochs of a timer rise from one owner to the next.
func TestEpochsRise(t *testing.T) {
	mock, table := clock.NewMock(), new(accounts)
	db := sql.OpenDB(table)
	defer db.Close()
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Clock: mock,
		Handle: func(ctx context.Context, f durable.Firing[string, string]) error { return setPlan(ctx, db, f) }}
	last := int64(0)
	for _, plan := range []string{"gold", "silver", "free"} {
		plans, err := durable.Open(t.Context(), cfg)
		require.NoError(t, err)
		_, err = plans.Set(t.Context(), "ann", plan, time.Hour)
		require.NoError(t, err)
		mock.Add(time.Hour)
		require.Equal(t, plan, table.plan)
		require.Greater(t, table.epoch, last)
		last = table.epoch
		require.NoError(t, plans.Close())
	}
}

// accounts is a database with one account, which knows the statement of setPlan.
type accounts struct {
	plan  string
	epoch int64
}

func (a *accounts) Connect(context.Context) (driver.Conn, error) { return a, nil }
func (a *accounts) Driver() driver.Driver                        { return nil }
func (a *accounts) Prepare(string) (driver.Stmt, error)          { return nil, errors.New("not needed") }
func (a *accounts) Close() error                                 { return nil }
func (a *accounts) Begin() (driver.Tx, error)                    { return nil, errors.New("not needed") }

func (a *accounts) ExecContext(_ context.Context, _ string, args []driver.NamedValue) (driver.Result, error) {
	if epoch := args[1].Value.(int64); a.epoch <= epoch {
		a.plan, a.epoch = args[0].Value.(string), epoch
		return driver.RowsAffected(1), nil
	}
	return driver.RowsAffected(0), nil
}
