package outbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox/postgres"
	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox/sqlite"
	postgresserver "github.com/epicycle-go/epicycle/tests/postgres"
)

// database is where a test has its tables. It can be opened by several processes.
type database struct {
	Driver, Source string
}

func (d database) open(t testing.TB) *sql.DB {
	db, err := sql.Open(d.Driver, d.Source)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (d database) dialect() outbox.Dialect {
	if d.Driver == "sqlite" {
		return sqlite.Dialect()
	}
	return postgres.Dialect()
}

// databases runs a test with each database that is there.
func databases(t *testing.T, test func(t *testing.T, d database)) {
	t.Run("SQLite", func(t *testing.T) { test(t, sqliteIn(t.TempDir())) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, postgresDatabase(t)) })
}

func sqliteIn(dir string) database {
	return database{"sqlite", "file:" + filepath.Join(dir, "orders.db") +
		"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(60000)&_txlock=immediate"}
}

// server is the PostgreSQL server of the tests.
var server struct {
	once sync.Once
	dir  string
	port int
	err  error
	next int
}

// postgresDatabase returns a new database. The test is skipped if PostgreSQL is not installed.
func postgresDatabase(t testing.TB) database {
	if postgresserver.Programs() == "" {
		t.Skip("PostgreSQL is not installed")
	}
	server.once.Do(func() { server.err = startPostgres() })
	require.NoError(t, server.err)
	server.next++
	name := "test" + strconv.Itoa(server.next)
	admin, err := sql.Open("pgx", postgresURL("postgres"))
	require.NoError(t, err)
	defer admin.Close()
	_, err = admin.Exec("CREATE DATABASE " + name)
	require.NoError(t, err)
	return database{"pgx", postgresURL(name)}
}

func postgresURL(database string) string { return postgresserver.URL(server.port, database) }

func startPostgres() (err error) {
	if server.dir, err = os.MkdirTemp("", "outbox-postgres-"); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server.port = l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return err
	}
	data := filepath.Join(server.dir, "data")
	if err := postgresserver.Init(server.dir, data); err != nil {
		return err
	}
	return postgresserver.Run("pg_ctl", "-D", data, "-w", "-l", filepath.Join(server.dir, "log"), "-o",
		fmt.Sprintf("-c listen_addresses=127.0.0.1 -c port=%d -c unix_socket_directories=%s", server.port, server.dir), "start")
}

func stopPostgres() {
	if server.dir == "" {
		return
	}
	_ = postgresserver.Run("pg_ctl", "-D", filepath.Join(server.dir, "data"), "-m", "immediate", "stop")
	_ = os.RemoveAll(server.dir)
}

// begin begins a transaction of a test.
func begin(t testing.TB, db *sql.DB) *sql.Tx {
	tx, err := db.BeginTx(context.Background(), nil)
	require.NoError(t, err)
	return tx
}
