package outbox_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox/postgres"
	"github.com/epicycle-go/epicycle/tests/snippets"
)

// The snippets of the page are in the tests of this module, so they are compiled and run.
func TestSnippetsAreCode(t *testing.T) {
	code, err := snippets.Read("*_test.go")
	require.NoError(t, err)
	page := "../../../docs/outbox.md"
	text, err := snippets.Read(page)
	require.NoError(t, err)
	require.NotEmpty(t, text)
	require.Empty(t, snippets.Missing(text, code), "%s: no test has this snippet", page)
}

type Order struct{ ID string }

func TestPage(t *testing.T) {
	fired := make(chan string, 1)
	program := func(ctx context.Context, db *sql.DB, timers *durable.Keyed[string, Order], order Order) error {
		box, err := outbox.New(outbox.Config[string, Order]{DB: db, Dialect: postgres.Dialect()})
		if err != nil {
			return err
		}
		if err := box.Create(ctx); err != nil { // the tables, if they are not there
			return err
		}
		go box.Relay(ctx, timers) // in every process: one at a time relays

		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id) VALUES ($1)", order.ID); err != nil {
			return err
		}
		if err := box.Set(ctx, tx, order.ID, order, 30*time.Minute); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		// The order is shipped at once: its timer fires now.
		tx, err = db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		require.NoError(t, box.Move(ctx, tx, order.ID, 0))
		return tx.Commit()
	}
	db := postgresDatabase(t).open(t)
	_, err := db.Exec(`CREATE TABLE orders (id TEXT PRIMARY KEY)`)
	require.NoError(t, err)
	timers, err := durable.Open(t.Context(), durable.Config[string, Order]{Dir: t.TempDir(),
		Handle: func(_ context.Context, f durable.Firing[string, Order]) error { fired <- f.Value.ID; return nil }})
	require.NoError(t, err)
	defer timers.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.NoError(t, program(ctx, db, timers, Order{"17"}))
	require.Equal(t, "17", <-fired)
}
