package recipes

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// transfer is money that is paid at some time.
type transfer struct {
	Account string
	Cents   int64
}

// pay does what the timer is for, and stores the timer's ID, in one transaction. If the timer comes
// again, as the process died before its end was logged, the ID is there and nothing happens.
//
//	CREATE TABLE done (id CHAR(32) PRIMARY KEY, at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)
func pay(ctx context.Context, db *sql.DB, f durable.Firing[string, transfer]) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	result, err := tx.ExecContext(ctx, "INSERT INTO done (id) VALUES ($1) ON CONFLICT DO NOTHING", f.ID.String())
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return err // nil: it was paid before
	}
	_, err = tx.ExecContext(ctx, "UPDATE accounts SET cents = cents + $1 WHERE id = $2", f.Value.Cents, f.Value.Account)
	if err != nil {
		return err
	}
	return tx.Commit()
}

func TestEffectivelyOnce(t *testing.T) {
	ctx, mock, bank := t.Context(), clock.NewMock(), newBank()
	db := sql.OpenDB(bank)
	defer db.Close()
	attempts := 0
	transfers, err := durable.Open(ctx, durable.Config[string, transfer]{
		Dir: t.TempDir(), Clock: mock,
		Backoff: func(int) time.Duration { return time.Second },
		Handle: func(ctx context.Context, f durable.Firing[string, transfer]) error {
			attempts++
			bank.broken = attempts == 1 // rolled back
			err := pay(ctx, db, f)
			if attempts <= 3 { // committed, but nobody hears of it
				err = errors.Join(err, errors.New("the connection was lost"))
			}
			return err
		},
	})
	require.NoError(t, err)
	defer transfers.Close()
	_, err = transfers.Set(ctx, "rent, May", transfer{"landlord", 90_000}, time.Hour)
	require.NoError(t, err)
	mock.Add(2 * time.Hour)
	require.Equal(t, 4, attempts)
	require.Equal(t, map[string]int64{"landlord": 90_000}, bank.cents)
	_, err = transfers.Set(ctx, "rent, May", transfer{"landlord", 1}, time.Hour) // another timer, another ID
	require.NoError(t, err)
	mock.Add(2 * time.Hour)
	require.Equal(t, map[string]int64{"landlord": 90_001}, bank.cents)
}
