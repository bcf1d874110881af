// Package jetstream stores logs and a table in NATS JetStream. A set of logs is a stream for each partition, and one
// for the marks of all of them. The table is a key-value bucket.
//
// The files: open.go waits for servers that are not ready, set.go, find.go and make.go open a set, log.go, read.go and
// marks.go are a log, table.go and tableread.go the table, settings.go checks the settings of streams, and request.go
// and problem.go use JetStream's API directly where nats.go hides something: the response of a stream's leader, a limit
// for each request, and errors of servers that may respond later.
package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// ErrPartitions means that the set of logs has another number of partitions.
var ErrPartitions = errors.New("another number of partitions")

// Config determines which logs to open.
type Config struct {
	Conn       *nats.Conn
	Name       string
	Partitions int // 0: the number that the set has, or DefaultPartitions for a new set
	Replicas   int // the replicas of streams that are created; 0: three, or one if there is one server
	// Progress, if not nil, is called after each answer of the servers. It can be called many times.
	Progress func()
}

const (
	// DefaultPartitions is the number of partitions of a new set.
	DefaultPartitions = 8
	// MaxPartitions is the largest number of partitions of a set.
	MaxPartitions = 1 << 10
)

// Set is the set of logs of one name.
type Set struct {
	cfg  Config
	js   jetstream.JetStream
	Logs []storage.Log
	// Replicas is the number of replicas of the stream with the marks.
	Replicas int

	portions chan struct{}
}

// about is the record of a set. It is written once all streams exist.
type about struct {
	Format     int `json:"format"`
	Partitions int `json:"partitions"`
}

const format = 1

// Open opens the logs of a name, and creates them if there are none.
func Open(ctx context.Context, cfg Config) (*Set, error) {
	if !ValidName(cfg.Name) {
		return nil, fmt.Errorf("the name %q must have 1 to 64 of the characters a-z A-Z 0-9 - _", cfg.Name)
	}
	s := &Set{cfg: cfg, portions: make(chan struct{}, portions)}
	var err error
	s.js, err = jetstream.New(cfg.Conn, jetstream.WithDefaultTimeout(answerTime))
	if err != nil {
		return nil, err
	}
	there, err := s.find(ctx)
	switch {
	case errors.Is(err, storage.ErrAbsent):
		there, err = s.create(ctx)
	case err == nil && s.agrees(there) == nil:
		err = s.check(ctx, there)
	}
	if err == nil {
		err = s.agrees(there)
	}
	if err != nil {
		return nil, err
	}
	for i := range there.Partitions {
		s.Logs = append(s.Logs, s.log(i))
	}
	return s, nil
}

// agrees returns ErrPartitions if Config has another number of partitions than the set.
func (s *Set) agrees(a about) error {
	if s.cfg.Partitions == 0 || s.cfg.Partitions == a.Partitions {
		return nil
	}
	return fmt.Errorf("%w: %q has %d, not %d", ErrPartitions, s.cfg.Name, a.Partitions, s.cfg.Partitions)
}

// ValidName reports whether a set can have that name.
func ValidName(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 64
}

func (s *Set) marksStream() string  { return "epicycle_" + s.cfg.Name + "_marks" }
func (s *Set) aboutSubject() string { return "epicycle." + s.cfg.Name + ".mark.about" }
func (s *Set) stream(partition int) string {
	return fmt.Sprintf("epicycle_%s_%d", s.cfg.Name, partition)
}
func (s *Set) subject(partition int) string {
	return fmt.Sprintf("epicycle.%s.log.%d", s.cfg.Name, partition)
}

func (s *Set) log(partition int) *Log {
	nc := s.cfg.Conn
	subject := fmt.Sprintf("epicycle.%s.mark.%d", s.cfg.Name, partition)
	return &Log{
		nc: nc, stream: s.stream(partition), subject: s.subject(partition),
		marks: marks{nc, s.marksStream(), subject, markPause}, portions: s.portions,
		patience: patience, needs: s.logNeeds(partition),
	}
}
