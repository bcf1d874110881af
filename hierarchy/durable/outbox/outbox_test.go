package outbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
)

type (
	box    = outbox.Box[string, string]
	keyed  = durable.Keyed[string, string]
	batch  = durable.Batch[string, string]
	firing = durable.Firing[string, string]
)

// fired collects firings.
type fired struct {
	mu  sync.Mutex
	all []firing
	got chan string // the keys, if there is room
}

func (f *fired) handle(_ context.Context, x firing) error {
	f.mu.Lock()
	f.all = append(f.all, x)
	f.mu.Unlock()
	f.got <- x.Key
	return nil
}

// openTimers opens timers of a new directory.
func openTimers(t testing.TB) (*keyed, *fired) {
	f := &fired{got: make(chan string, 1<<16)}
	w, err := durable.Open(context.Background(), durable.Config[string, string]{Dir: t.TempDir(), Handle: f.handle})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, w.Close()) })
	return w, f
}

// newBox returns an outbox with its tables.
func newBox(t testing.TB, d database, more ...func(*outbox.Config[string, string])) (*box, *sql.DB) {
	db := d.open(t)
	cfg := outbox.Config[string, string]{DB: db, Dialect: d.dialect()}
	for _, f := range more {
		f(&cfg)
	}
	b, err := outbox.New(cfg)
	require.NoError(t, err)
	require.NoError(t, b.Create(context.Background()))
	return b, db
}

// relay relays until the test ends, or stop is called.
func relay(t testing.TB, b *box, timers outbox.Timers[string, string]) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- b.Relay(ctx, timers) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
	t.Cleanup(stop)
	return stop
}

// drained waits until nothing is to be relayed.
func drained(t testing.TB, b *box) outbox.Backlog {
	var l outbox.Backlog
	require.Eventually(t, func() bool {
		var err error
		l, err = b.Backlog(context.Background())
		require.NoError(t, err)
		return l.Rows == 0
	}, time.Minute, 2*time.Millisecond)
	return l
}

func TestCommitted(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		ctx := context.Background()
		b, db := newBox(t, d)
		w, f := openTimers(t)
		relay(t, b, w)

		tx := begin(t, db)
		require.NoError(t, b.Set(ctx, tx, "soon", "1", 0))
		require.NoError(t, b.Set(ctx, tx, "later", "2", time.Hour))
		require.NoError(t, b.SetAt(ctx, tx, "at", "3", time.Now().Add(2*time.Hour)))
		require.NoError(t, b.Set(ctx, tx, "moved", "4", time.Hour))
		require.NoError(t, b.Move(ctx, tx, "moved", 3*time.Hour))
		at := time.Now().Add(4 * time.Hour)
		require.NoError(t, b.Set(ctx, tx, "moved at", "6", time.Hour))
		require.NoError(t, b.MoveAt(ctx, tx, "moved at", at))
		require.NoError(t, b.Set(ctx, tx, "removed", "5", time.Hour))
		require.NoError(t, b.Remove(ctx, tx, "removed"))
		require.NoError(t, tx.Commit())
		assert.Equal(t, "soon", <-f.got)
		drained(t, b)
		require.Eventually(t, func() bool { // the end of its firing is committed, too
			n, err := w.Len(ctx)
			return err == nil && n == 4
		}, time.Minute, 2*time.Millisecond)

		due := map[string]time.Duration{}
		for e, err := range w.All(ctx) {
			require.NoError(t, err)
			due[e.Key+e.Value] = time.Until(e.Due).Round(time.Hour)
			assert.True(t, e.Key != "moved at" || e.Due.Equal(at))
		}
		assert.Equal(t, map[string]time.Duration{"later2": time.Hour, "at3": 2 * time.Hour, "moved4": 3 * time.Hour, "moved at6": 4 * time.Hour}, due)
	})
}

func TestRolledBack(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		ctx := context.Background()
		b, db := newBox(t, d)
		w, f := openTimers(t)
		relay(t, b, w)

		tx := begin(t, db)
		require.NoError(t, b.Set(ctx, tx, "rolled back", "", 0))
		require.NoError(t, tx.Rollback())
		tx = begin(t, db)
		require.NoError(t, b.Set(ctx, tx, "committed", "", 0))
		require.NoError(t, tx.Commit())
		assert.Equal(t, "committed", <-f.got)
		drained(t, b)
		assert.Len(t, f.all, 1)
	})
}

// TestOrder has transactions on few keys at the same time. What is in the timers in the end is what the transaction
// that was committed last has left for each key.
func TestOrder(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		ctx := context.Background()
		b, db := newBox(t, d)
		_, err := db.Exec(`CREATE TABLE orders (k TEXT PRIMARY KEY, v TEXT)`)
		require.NoError(t, err)
		w, _ := openTimers(t)
		relay(t, b, w)

		var all sync.WaitGroup
		for g := range 4 {
			all.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(g)))
				for n := range 100 {
					k, v := fmt.Sprint("k", random.IntN(3)), fmt.Sprint(g, " ", n)
					change(t, b, db, k, v, random.IntN(4), random.IntN(5) == 0)
				}
			})
		}
		all.Wait()
		drained(t, b)

		want := map[string]string{}
		rows, err := db.Query(`SELECT k, v FROM orders WHERE v <> ''`)
		require.NoError(t, err)
		defer rows.Close()
		for rows.Next() {
			var k, v string
			require.NoError(t, rows.Scan(&k, &v))
			want[k] = v
		}
		require.NoError(t, rows.Err())
		got := map[string]string{}
		for e, err := range w.All(ctx) {
			require.NoError(t, err)
			got[e.Key] = e.Value
		}
		assert.Equal(t, want, got)
	})
}

// change sets or removes an order and its timer in one transaction. The timer comes first, so that nothing but the
// outbox itself puts the transactions into an order.
func change(t *testing.T, b *box, db *sql.DB, k, v string, op int, rollback bool) {
	ctx := context.Background()
	tx := begin(t, db)
	defer tx.Rollback()
	var err error
	if op == 0 {
		v = ""
		err = b.Remove(ctx, tx, k)
	} else {
		err = b.Set(ctx, tx, k, v, time.Hour)
	}
	if !assert.NoError(t, err) || rollback {
		return
	}
	_, err = tx.Exec(`INSERT INTO orders (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v`, k, v)
	assert.NoError(t, err)
	assert.NoError(t, tx.Commit())
}

// failing is timers that fail as a plan says: with an error before or after a Batch is done.
type failing struct {
	timers *keyed
	mu     sync.Mutex
	plan   []string // before, after, or ""
}

func (f *failing) Batch(ctx context.Context, b *batch) error {
	f.mu.Lock()
	what := ""
	if len(f.plan) > 0 {
		what, f.plan = f.plan[0], f.plan[1:]
	}
	f.mu.Unlock()
	if what == "before" {
		return durable.ErrUnavailable
	}
	err := f.timers.Batch(ctx, b)
	if what == "after" {
		return durable.ErrUnavailable
	}
	return err
}

func TestUnavailable(t *testing.T) {
	ctx := context.Background()
	b, db := newBox(t, sqliteIn(t.TempDir()))
	w, f := openTimers(t)
	relay(t, b, &failing{timers: w, plan: []string{"before", "after", "before"}})

	tx := begin(t, db)
	require.NoError(t, b.Set(ctx, tx, "k", "v", time.Hour))
	require.NoError(t, b.Set(ctx, tx, "now", "v", 0))
	require.NoError(t, tx.Commit())
	drained(t, b)
	assert.Equal(t, "now", <-f.got)
	n, err := w.Len(ctx)
	assert.NoError(t, err)
	assert.LessOrEqual(t, n, 2) // the one that is due may have been set again
	_, _, ok, err := w.Get(ctx, "k")
	assert.NoError(t, err)
	assert.True(t, ok)
}

// TestRefused: a row that the timers refuse for good holds up nothing.
func TestRefused(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		ctx := context.Background()
		b, db := newBox(t, d)
		w, f := openTimers(t)
		tx := begin(t, db)
		require.NoError(t, b.Set(ctx, tx, "it's bad", "", 0))
		require.NoError(t, b.Set(ctx, tx, "bad operation", "", 0))
		require.NoError(t, b.Set(ctx, tx, "good", "", 0))
		_, err := tx.Exec(`UPDATE epicycle_outbox SET key = $1 WHERE id = 1`, []byte(`"no JSON`))
		require.NoError(t, err)
		_, err = tx.Exec(`UPDATE epicycle_outbox SET op = 77 WHERE id = 2`)
		require.NoError(t, err)
		require.NoError(t, tx.Commit())
		relay(t, b, w)
		assert.Equal(t, "good", <-f.got)
		assert.Equal(t, 2, drained(t, b).Failed)
		var reason string
		require.NoError(t, db.QueryRow(`SELECT failed FROM epicycle_outbox WHERE id = 1`).Scan(&reason))
		assert.Contains(t, reason, "the key can't be decoded")
	})
}

// refusing refuses one key for good, as timers do that allow less than the outbox.
type refusing struct {
	*keyed
	bad bool
}

func (r *refusing) Batch(ctx context.Context, b *batch) error {
	if r.bad && b.Len() > 1 { // one of them
		return durable.ErrTooLarge
	}
	if r.bad {
		r.bad = false
		return durable.ErrTooLarge
	}
	return r.keyed.Batch(ctx, b)
}

func TestRefusedTogether(t *testing.T) {
	ctx := context.Background()
	b, db := newBox(t, sqliteIn(t.TempDir()))
	w, f := openTimers(t)
	tx := begin(t, db)
	for _, k := range []string{"bad", "a", "b"} {
		require.NoError(t, b.Set(ctx, tx, k, "", 0))
	}
	require.NoError(t, tx.Commit())
	relay(t, b, &refusing{keyed: w, bad: true})
	assert.ElementsMatch(t, []string{"a", "b"}, []string{<-f.got, <-f.got})
	assert.Equal(t, 1, drained(t, b).Failed)
}

// TestOneRelays has two relays: the second one begins when the first one stops.
func TestOneRelays(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		ctx := context.Background()
		b, db := newBox(t, d, func(c *outbox.Config[string, string]) { c.Lease = 10 * time.Second }) // which nobody takes while the other one stands still
		w, f := openTimers(t)
		one, two := &counting{keyed: w}, &counting{keyed: w}
		set := func(k string) {
			tx := begin(t, db)
			require.NoError(t, b.Set(ctx, tx, k, "", 0))
			require.NoError(t, tx.Commit())
			assert.Equal(t, k, <-f.got)
		}
		stop := relay(t, b, one)
		set("first")
		relay(t, b, two)
		set("second")
		assert.Zero(t, two.count())
		stop()
		set("third")
		assert.Equal(t, 1, two.count())
	})
}

type counting struct {
	*keyed
	mu sync.Mutex
	n  int
}

func (c *counting) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func (c *counting) Batch(ctx context.Context, b *batch) error {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
	return c.keyed.Batch(ctx, b)
}

// TestLost: a relay whose lease another has taken passes nothing more on.
func TestLost(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		ctx := context.Background()
		b, db := newBox(t, d, func(c *outbox.Config[string, string]) { c.Lease = 200 * time.Millisecond })
		w, f := openTimers(t)
		c := &counting{keyed: w}
		relay(t, b, c)
		tx := begin(t, db)
		require.NoError(t, b.Set(ctx, tx, "first", "", 0))
		require.NoError(t, tx.Commit())
		<-f.got
		drained(t, b)

		// Another one takes the lease and passes nothing on: no row moves.
		tx = begin(t, db)
		_, err := tx.Exec(`UPDATE epicycle_outbox_relay SET holder = 'thief', renewed = renewed + 1`)
		require.NoError(t, err)
		require.NoError(t, b.Set(ctx, tx, "second", "", 0))
		began := time.Now() // it may see the other one before Commit returns
		require.NoError(t, tx.Commit())
		key := <-f.got
		for key == "first" { // its lease may have ended before it could note that it was passed on
			key = <-f.got
		}
		assert.Equal(t, "second", key)
		assert.GreaterOrEqual(t, time.Since(began), 250*time.Millisecond-time.Millisecond, "taken before 1.25 Lease")
	})
}

func TestArguments(t *testing.T) {
	ctx := context.Background()
	d := sqliteIn(t.TempDir())
	db := d.open(t)
	for want, cfg := range map[string]outbox.Config[string, string]{
		"DB is nil":        {Dialect: d.dialect()},
		"Dialect is empty": {DB: db},
		"Table":            {DB: db, Dialect: d.dialect(), Table: "a; DROP TABLE orders"},
		"Lease":            {DB: db, Dialect: d.dialect(), Lease: time.Nanosecond},
	} {
		_, err := outbox.New(cfg)
		assert.ErrorIs(t, err, durable.ErrArgument)
		assert.ErrorContains(t, err, want)
	}
	b, err := outbox.New(outbox.Config[string, string]{DB: db, Dialect: d.dialect(), Table: "boxes"})
	require.NoError(t, err)
	tx := begin(t, db)
	defer tx.Rollback()
	assert.ErrorContains(t, b.Set(ctx, tx, "k", "v", 0), "boxes", "there is no such table")
	assert.ErrorIs(t, b.Set(ctx, tx, strings.Repeat("k", 1025), "", 0), durable.ErrTooLarge)
	assert.ErrorIs(t, b.Set(ctx, tx, "k", strings.Repeat("v", 65537), 0), durable.ErrTooLarge)
	bad := errors.New("bad")
	c, err := outbox.New(outbox.Config[string, string]{DB: db, Dialect: d.dialect(), Key: broken{bad}, Value: broken{bad}})
	require.NoError(t, err)
	assert.ErrorIs(t, c.Set(ctx, tx, "k", "v", 0), bad)
}

type broken struct{ err error }

func (b broken) Append([]byte, string) ([]byte, error) { return nil, b.err }
func (b broken) Decode([]byte) (string, error)         { return "", b.err }
