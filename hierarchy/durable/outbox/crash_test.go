package outbox_test

import (
	"bufio"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
)

var kills = flag.Int("kills", 3, "how often the crash test kills the process, for each database")

// workerVariable makes a process one that is killed.
const workerVariable = "EPICYCLE_OUTBOX_WORKER"

type workerConfig struct {
	Database database
	Dir      string // of the timers
	Life     int    // which process this is
}

// work makes transactions and relays them until it is killed. Each transaction sets or removes the timer of a key,
// and writes into the table orders what the timer must be. Each firing is written to a line of the output, and
// at last "drained" when the input says so.
func work(cfg workerConfig, in io.Reader, out io.Writer) error {
	ctx := context.Background()
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, format+"\n", args...)
	}
	db, err := sql.Open(cfg.Database.Driver, cfg.Database.Source)
	if err != nil {
		return err
	}
	w, err := durable.Open(ctx, durable.Config[string, string]{Dir: cfg.Dir,
		Handle: func(_ context.Context, f firing) error { say("fire %s %s", f.Key, f.Value); return nil }})
	if err != nil {
		return err
	}
	b, err := outbox.New(outbox.Config[string, string]{DB: db, Dialect: cfg.Database.dialect(), Lease: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	go func() { _ = b.Relay(ctx, w) }()
	var end sync.WaitGroup
	stop := make(chan struct{})
	for g := range 4 {
		end.Go(func() { transact(b, db, cfg.Life, g, stop, func() { say("made") }) })
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		close(stop)
		end.Wait()
		for l, err := b.Backlog(ctx); l.Rows > 0 || err != nil; l, err = b.Backlog(ctx) {
			time.Sleep(5 * time.Millisecond)
		}
		left, err := farTimers(ctx, w)
		if err != nil {
			return err
		}
		for k, v := range left {
			say("left %s %s", k, v)
		}
		say("drained")
	}
	os.Exit(0) // the parent has gone
	return nil
}

// farTimers waits until those that fire at once have fired, and returns the others.
func farTimers(ctx context.Context, w *keyed) (map[string]string, error) {
	for {
		far, due := map[string]string{}, 0
		for e, err := range w.All(ctx) {
			if err != nil {
				return nil, err
			}
			if strings.HasPrefix(e.Key, "now") {
				due++
				continue
			}
			far[e.Key] = e.Value
		}
		if due == 0 {
			return far, nil
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// transact makes transactions until stop is closed. All goroutines share the keys.
func transact(b *box, db *sql.DB, life, g int, stop chan struct{}, made func()) {
	ctx := context.Background()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			continue
		}
		k, v := fmt.Sprint("k", rand.IntN(20)), fmt.Sprintf("%d.%d.%d", life, g, n)
		if rand.IntN(4) == 0 {
			v = "none"
			err = b.Remove(ctx, tx, k)
		} else {
			err = b.Set(ctx, tx, k, v, time.Hour)
		}
		if err == nil && n%8 == 0 { // one that fires at once, exactly for this transaction
			err = b.Set(ctx, tx, "now"+v+fmt.Sprint("/", life, "/", g, "/", n), "fires", 0)
			if err == nil {
				_, err = tx.Exec(`INSERT INTO fires (k) VALUES ($1)`, "now"+v+fmt.Sprint("/", life, "/", g, "/", n))
			}
		}
		if err == nil {
			_, err = tx.Exec(`INSERT INTO orders (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v`, k, v)
		}
		if err != nil || rand.IntN(5) == 0 {
			_ = tx.Rollback()
			continue
		}
		if tx.Commit() == nil {
			made()
		}
	}
}

// TestKills kills the process that makes transactions and relays them, at any time, again and again. In the end
// the timers are what the transactions that were committed have made of them, and each timer that one of them
// has set for now has fired.
func TestKills(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		_, db := newBox(t, d)
		for _, s := range []string{`CREATE TABLE orders (k TEXT PRIMARY KEY, v TEXT)`, `CREATE TABLE fires (k TEXT PRIMARY KEY)`} {
			_, err := db.Exec(s)
			require.NoError(t, err)
		}
		cfg := workerConfig{Database: d, Dir: t.TempDir()}
		found := &found{fired: map[string]int{}, left: map[string]string{}}
		for cfg.Life = range *kills + 1 {
			last := cfg.Life == *kills
			p, ready := found.start(t, cfg, 1+rand.IntN(200))
			select {
			case <-ready:
			case <-p.Ended():
				t.Fatal(p.Err())
			}
			if last {
				require.NoError(t, p.Tell("finish"))
				select {
				case <-found.drained:
				case <-p.Ended():
					t.Fatal(p.Err())
				}
			}
			p.End()
		}
		found.judge(t, db)
	})
}

// found is what the processes have said.
type found struct {
	fired   map[string]int
	left    map[string]string
	drained chan struct{}
}

// start starts a process. Its lines are read until it has ended. The channel is closed after so many transactions.
func (f *found) start(t *testing.T, cfg workerConfig, transactions int) (*child.Process, chan struct{}) {
	ready := make(chan struct{})
	f.drained = make(chan struct{})
	p, err := child.Start(child.Spec{Variable: workerVariable, Config: cfg, Line: func(line string) error {
		switch what, rest, _ := strings.Cut(line, " "); what {
		case "made":
			if transactions--; transactions == 0 {
				close(ready)
			}
		case "fire":
			f.fired[strings.Fields(rest)[0]]++
		case "left":
			k, v, _ := strings.Cut(rest, " ")
			f.left[k] = v
		case "drained":
			close(f.drained)
		default:
			return fmt.Errorf("unexpected: %s", line)
		}
		return nil
	}})
	require.NoError(t, err)
	return p, ready
}

func (f *found) judge(t *testing.T, db *sql.DB) {
	rows, err := db.Query(`SELECT k, v FROM orders`)
	require.NoError(t, err)
	defer rows.Close()
	orders := 0
	for rows.Next() {
		var k, v string
		require.NoError(t, rows.Scan(&k, &v))
		orders++
		if v == "none" {
			require.NotContains(t, f.left, k)
		} else {
			require.Equal(t, v, f.left[k], "the timer of %s is not that of the last transaction", k)
		}
	}
	require.NoError(t, rows.Err())
	require.NotZero(t, orders)

	due, err := db.Query(`SELECT k FROM fires`)
	require.NoError(t, err)
	defer due.Close()
	committed := map[string]bool{}
	for due.Next() {
		var k string
		require.NoError(t, due.Scan(&k))
		committed[k] = true
		require.NotZero(t, f.fired[k], "%s was committed and has not fired", k)
	}
	require.NoError(t, due.Err())
	twice := 0
	for k, n := range f.fired {
		require.True(t, committed[k], "%s was rolled back and has fired", k)
		if n > 1 {
			twice++
		}
	}
	t.Logf("%d fired, %d of them more than once", len(committed), twice)
}
