// Package stream keeps logs in JetStream: a stream for each partition, and one for the marks of
// all of them. It knows a connection, not where the servers are.
package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// ErrPartitions: the set of logs has another number of partitions.
var ErrPartitions = errors.New("another number of partitions")

// Config says which logs to open.
type Config struct {
	Conn       *nats.Conn
	Name       string
	Partitions int // 0: as many as there are, or DefaultPartitions
	Replicas   int // of what is made; 0: three, or one where there is one server
	// Made: the set was made before. If it is not there, it is damaged.
	Made bool
	// Progress, if not nil, is called after each answer of the servers. There can be many.
	Progress func()
}

const (
	// DefaultPartitions is how many partitions a new set has.
	DefaultPartitions = 8
	// MaxPartitions is how many it can have.
	MaxPartitions = 1 << 10
)

// Set is the logs of one name.
type Set struct {
	cfg  Config
	js   jetstream.JetStream
	Logs []*Log
	// Replicas is how many of the marks there are.
	Replicas int

	portions chan struct{}
}

// about is the record that says what the set is. It is written when all streams are there.
type about struct {
	Format     int `json:"format"`
	Partitions int `json:"partitions"`
}

const format = 1

// Open opens the logs of a name, and makes them if there are none.
func Open(ctx context.Context, cfg Config) (*Set, error) {
	if !ValidName(cfg.Name) {
		return nil, fmt.Errorf("the name %q must have 1 to 64 of the characters a-z A-Z 0-9 - _", cfg.Name)
	}
	js, err := jetstream.New(cfg.Conn)
	if err != nil {
		return nil, err
	}
	s := &Set{cfg: cfg, js: js, portions: make(chan struct{}, portions)}
	if s.Replicas, err = s.make(ctx, s.marksStream(), "epicycle."+cfg.Name+".mark.*", 2); err != nil {
		return nil, err
	}
	there, err := s.about(ctx)
	switch {
	case errors.Is(err, journal.ErrAbsent) && cfg.Made:
		err = fmt.Errorf("%w: %q was there, and is missing", journal.ErrDamaged, cfg.Name)
	case errors.Is(err, journal.ErrAbsent):
		there, err = s.create(ctx)
	case err == nil && s.agrees(there) == nil:
		err = s.complete(ctx, there)
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

// agrees is an error if the set has not the number of partitions that it is opened with.
func (s *Set) agrees(a about) error {
	if s.cfg.Partitions == 0 || s.cfg.Partitions == a.Partitions {
		return nil
	}
	return fmt.Errorf("%w: %q has %d, not %d", ErrPartitions, s.cfg.Name, a.Partitions, s.cfg.Partitions)
}

// ValidName tells whether a set can have that name.
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
		marks: marks{nc, s.marksStream(), subject, markPause}, most: int(nc.MaxPayload()) - room, portions: s.portions, patience: patience,
	}
}

// make makes a stream, or leaves the one that is there. It returns how many replicas that has.
func (s *Set) make(ctx context.Context, name, subject string, perSubject int64) (replicas int, err error) {
	cfg := jetstream.StreamConfig{
		Name: name, Subjects: []string{subject}, Storage: jetstream.FileStorage,
		Replicas: s.cfg.Replicas, AllowDirect: true, DenyDelete: true,
		MaxMsgsPerSubject: perSubject,
	}
	if cfg.Replicas == 0 {
		cfg.Replicas = defaultReplicas
	}
	made, err := s.js.CreateStream(ctx, cfg)
	var api *jetstream.APIError
	if s.cfg.Replicas == 0 && errors.As(err, &api) && api.ErrorCode == codeOneServer {
		cfg.Replicas = 1
		made, err = s.js.CreateStream(ctx, cfg)
	}
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		made, err = s.js.Stream(ctx, name)
	}
	if err != nil {
		return 0, err
	}
	if s.cfg.Progress != nil {
		s.cfg.Progress()
	}
	return made.CachedInfo().Config.Replicas, nil
}

const (
	defaultReplicas = 3
	codeOneServer   = 10074 // replicas need a cluster
)

// about reads the record, or returns ErrAbsent.
func (s *Set) about(ctx context.Context) (a about, err error) {
	data, _, err := latest(ctx, s.cfg.Conn, s.marksStream(), s.aboutSubject())
	if err != nil {
		return a, err
	}
	switch err := json.Unmarshal(data, &a); {
	case err != nil || a.Partitions < 1 || a.Partitions > MaxPartitions:
		return a, fmt.Errorf("%w: the record of %q can't be read", journal.ErrDamaged, s.cfg.Name)
	case a.Format != format:
		return a, fmt.Errorf("%q has format %d, and this program knows format %d", s.cfg.Name, a.Format, format)
	}
	return a, nil
}

// create makes the streams of a name, and the record when all are there.
func (s *Set) create(ctx context.Context) (about, error) {
	a := about{format, s.cfg.Partitions}
	if a.Partitions == 0 {
		a.Partitions = DefaultPartitions
	}
	if a.Partitions < 0 || a.Partitions > MaxPartitions {
		return a, fmt.Errorf("%w: %d is not between 1 and %d", ErrPartitions, a.Partitions, MaxPartitions)
	}
	// One after the other: three servers that make several at once leave some requests without an answer.
	for i := range a.Partitions {
		if err := s.makeLog(ctx, i); err != nil {
			return a, err
		}
		if b, err := s.log(i).Bounds(ctx); err != nil {
			return a, err
		} else if b.Last > 0 {
			return s.aboutWritten(ctx)
		}
	}
	data, _ := json.Marshal(a)
	_, err := publish(ctx, s.cfg.Conn, s.aboutSubject(), nats.ExpectedLastSubjSeqHdr, 0, data)
	if errors.Is(err, journal.ErrRefused) { // another process was faster
		return s.about(ctx)
	}
	return a, err
}

// aboutWritten reads the record when something is in a log. Without the record nobody writes to a log, so
// another process has been faster, or the record is lost.
func (s *Set) aboutWritten(ctx context.Context) (a about, err error) {
	for range recordTries {
		if a, err = s.about(ctx); !errors.Is(err, journal.ErrAbsent) {
			return a, err
		}
		select { // a leader that was just elected may not have it yet
		case <-time.After(recordPause):
		case <-ctx.Done():
			return a, ctx.Err()
		}
	}
	return a, fmt.Errorf("%w: %q has logs, but the record of them is missing", journal.ErrDamaged, s.cfg.Name)
}

const (
	recordTries = 3
	recordPause = 100 * time.Millisecond
)

// complete makes the streams that have gone. Their marks tell that something was in them.
func (s *Set) complete(ctx context.Context, a about) error {
	return each(ctx, a.Partitions, s.makeLog)
}

// makeLog makes the stream of a partition, or leaves the one that is there.
func (s *Set) makeLog(ctx context.Context, partition int) error {
	_, err := s.make(ctx, s.stream(partition), s.subject(partition), -1)
	return err
}
