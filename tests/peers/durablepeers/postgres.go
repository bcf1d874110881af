package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/epicycle-go/epicycle/tests/postgres"
)

var postgresPrograms = program{postgres.Programs, "postgresql"}

func postgresURL(addr string) string {
	_, text, _ := net.SplitHostPort(addr)
	port, _ := strconv.Atoi(text)
	return postgres.URL(port, "postgres")
}

// postgresServer has the settings that initdb writes.
func postgresServer(dir string) ([]serverSpec, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // the server's user needs access
		return nil, err
	}
	if err := postgres.Init(dir, data); err != nil {
		return nil, err
	}
	return []serverSpec{{
		Addr: loopback(port),
		Command: func() *exec.Cmd {
			return postgres.Command("postgres", "-D", data, "-c", "listen_addresses=127.0.0.1",
				"-c", "port="+strconv.Itoa(port), "-c", "unix_socket_directories="+dir)
		},
		Ready: func(ctx context.Context, addr string) error {
			c, err := pgx.Connect(ctx, postgresURL(addr))
			if err != nil {
				return err
			}
			return c.Close(ctx)
		},
	}}, nil
}
