package recipes

import (
	"context"
	"database/sql/driver"
	"errors"
	"maps"
	"strings"
)

// bank is a database in memory that knows the two statements of pay.
type bank struct {
	data
	broken bool // updates fail
}

type data struct {
	done  map[string]bool
	cents map[string]int64
}

func newBank() *bank { return &bank{data: data{map[string]bool{}, map[string]int64{}}} }

func (b *bank) Connect(context.Context) (driver.Conn, error) { return &bankConn{bank: b}, nil }
func (b *bank) Driver() driver.Driver                        { return nil }

// bankConn is a connection. Its transaction works on a copy.
type bankConn struct {
	bank *bank
	copy data
}

func (c *bankConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not needed") }
func (c *bankConn) Close() error                        { return nil }

func (c *bankConn) Begin() (driver.Tx, error) {
	c.copy = data{maps.Clone(c.bank.done), maps.Clone(c.bank.cents)}
	return c, nil
}

func (c *bankConn) Commit() error {
	c.bank.data = c.copy
	return nil
}

func (c *bankConn) Rollback() error { return nil }

func (c *bankConn) ExecContext(_ context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if strings.HasPrefix(query, "INSERT INTO done ") {
		id := args[0].Value.(string)
		if c.copy.done[id] {
			return driver.RowsAffected(0), nil
		}
		c.copy.done[id] = true
		return driver.RowsAffected(1), nil
	}
	if c.bank.broken {
		return nil, errors.New("the disk is full")
	}
	c.copy.cents[args[1].Value.(string)] += args[0].Value.(int64)
	return driver.RowsAffected(1), nil
}
