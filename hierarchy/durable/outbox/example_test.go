package outbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox/sqlite"
)

// The timer exists if the transaction is committed, and only then.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "timers")
	check(err)
	defer os.RemoveAll(dir)
	fired := make(chan string)
	ctx, cancel := context.WithCancel(context.Background())
	timers, err := durable.Open(ctx, durable.Config[string, int]{Dir: filepath.Join(dir, "timers"),
		Handle: func(_ context.Context, f durable.Firing[string, int]) error { fired <- f.Key; return nil }})
	check(err)
	defer timers.Close()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "orders.db")+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(60000)")
	check(err)
	defer db.Close()
	box, err := outbox.New(outbox.Config[string, int]{DB: db, Dialect: sqlite.Dialect()})
	check(err)
	check(box.Create(ctx)) // the tables, if they are not there
	relayed := make(chan error)
	go func() { relayed <- box.Relay(ctx, timers) }()

	for _, commit := range []bool{false, true} {
		tx, err := db.BeginTx(ctx, nil)
		check(err)
		check(box.Set(ctx, tx, fmt.Sprintf("committed: %t", commit), 17, time.Millisecond))
		if commit {
			check(tx.Commit())
		} else {
			check(tx.Rollback())
		}
	}
	fmt.Println(<-fired)
	cancel()
	<-relayed
	// Output: committed: true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
