package dq

//lint:file-ignore SA5008 the options of tags are those of go-zero's conf

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// The errors of this package, in addition to those of package durable. Compare with errors.Is.
var (
	// ErrTimeBeforeNow exists only so that code for go-queue that names this error compiles. No call returns it: a job
	// for a time that has passed is consumed at once.
	ErrTimeBeforeNow = errors.New("can't schedule task to past time")
	// ErrNotFound means that no job with this ID waits. The job was consumed or revoked, or never existed.
	ErrNotFound = errors.New("dq: there is no such job")
	// ErrRunning means that the function of a consumer was called with the job already. If it fails, it is not called
	// again.
	ErrRunning = errors.New("dq: the job is being consumed")
)

const (
	defaultName        = "dq"
	defaultConcurrency = 16
)

// DqConf configures a queue for its producers and consumers. One of Dir, Conn and NATS is required. go-zero's conf
// reads it from a file, except for Conn, Logger and Clock.
type DqConf struct {
	// Dir is the directory of the queue's files, which only one process at a time can have open. The producers and
	// consumers of the process share the directory.
	Dir string `json:",optional"`
	// NATS has the URLs of NATS servers with JetStream, separated by commas, with user and password if necessary.
	// Credentials is the name of a file with credentials. Each producer and consumer has a connection of its own.
	NATS        string `json:",optional"`
	Credentials string `json:",optional"`
	// Conn is a *nats.Conn to such servers, instead of NATS. It must reconnect without limit
	// (nats.MaxReconnects(-1)), and stay open until the producer is closed and the consumer has stopped.
	Conn Connection `json:",optional"`
	// Name is the name of the queue, like Tube in go-queue: 1 to 64 of the characters a-z, A-Z, 0-9, - and _. Default
	// "dq".
	Name string `json:",optional"`
	// Concurrency is the number of jobs that a call of Consume consumes at once, default 16.
	Concurrency int `json:",optional"`
	// MaxAttempts is the number of panics after which a job is dead: it is kept, but no longer consumed. The
	// default is 16. Negative means no limit.
	MaxAttempts int `json:",optional"`
	// Lease and Replicas, with Conn or NATS, mean the same as in durable.Config.
	Lease    time.Duration `json:",optional"`
	Replicas int           `json:",optional"`
	// Logger receives errors that no call can return, default slog.Default().
	Logger *slog.Logger `json:",optional"`
	// Clock is for tests: see durable.Config.
	Clock clock.Clock `json:",optional"`
}

// Connection is always a *nats.Conn. It is an interface because go-zero's conf refuses a configuration with a field of
// that type, which contains functions.
type Connection interface {
	Status() nats.Status
	MaxPayload() int64
}

// timers returns the configuration of the queue's timers.
func (c DqConf) timers() durable.Config[string, []byte] {
	return durable.Config[string, []byte]{Dir: c.Dir, Name: cmp.Or(c.Name, defaultName),
		MaxAttempts: c.MaxAttempts, Clock: c.Clock, Logger: c.logger()}
}

func (c DqConf) logger() *slog.Logger { return cmp.Or(c.Logger, slog.Default()) }

func (c DqConf) concurrency() int {
	if c.Concurrency <= 0 {
		return defaultConcurrency
	}
	return c.Concurrency
}
