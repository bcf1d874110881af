package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// TableConfig determines which bucket to open.
type TableConfig struct {
	Conn     *nats.Conn
	Name     string // the bucket is epicycle_NAME
	Replicas int    // the replicas of a bucket that is created; 0 means 1
}

// Table is a key-value bucket.
type Table struct {
	nc     *nats.Conn
	js     jetstream.JetStream
	bucket jetstream.KeyValue
	name   string // the name of the bucket
	ttl    bool   // the bucket can forget deletions
}

var _ storage.Table = (*Table)(nil)

// remembered is the time for which the bucket keeps deletions, on servers that can forget them.
const remembered = time.Hour

// OpenTable opens the bucket, and creates it if it does not exist.
func OpenTable(ctx context.Context, cfg TableConfig) (*Table, error) {
	s, err := FindTable(ctx, cfg)
	if !errors.Is(err, errUnopened) {
		return s, err
	}
	if s.bucket, err = s.make(ctx, max(1, cfg.Replicas)); err == nil {
		err = s.check(ctx)
	}
	return s, s.named(err)
}

// FindTable opens the bucket. If it does not exist, the error is errUnopened, and the returned Table has no bucket.
func FindTable(ctx context.Context, cfg TableConfig) (s *Table, err error) {
	s = &Table{nc: cfg.Conn, name: "epicycle_" + cfg.Name}
	if s.js, err = jetstream.New(cfg.Conn); err != nil {
		return nil, err
	}
	if s.bucket, err = s.js.KeyValue(ctx, s.name); err == nil {
		err = s.check(ctx)
	} else if errors.Is(err, jetstream.ErrBucketNotFound) {
		err = errUnopened
	}
	return s, s.named(err)
}

// named returns err with the name of the bucket.
func (s *Table) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("bucket %q: %w", s.name, err)
}

// largest is an upper bound for the size of a record.
const largest = 16 << 10

// check checks the settings of the bucket. A bucket that loses records would let two processes own the same partition.
func (s *Table) check(ctx context.Context) error {
	status, err := s.bucket.Status(ctx)
	if err != nil {
		return err
	}
	s.ttl = status.LimitMarkerTTL() > 0
	made, ok := status.(*jetstream.KeyValueBucketStatus)
	if !ok {
		return fmt.Errorf("a status of type %T", status)
	}
	needs := usage{Subject: s.subject(">"), PerSubject: 1, Largest: largest}
	return checkSettings(made.StreamInfo().Config, needs)
}

// make creates the bucket. Servers before 2.11 can't forget deletions.
func (s *Table) make(ctx context.Context, replicas int) (jetstream.KeyValue, error) {
	cfg := jetstream.KeyValueConfig{Bucket: s.name, History: 1, Storage: jetstream.FileStorage, Replicas: replicas,
		LimitMarkerTTL: remembered}
	bucket, err := s.js.CreateKeyValue(ctx, cfg)
	if errors.Is(err, jetstream.ErrLimitMarkerTTLNotSupported) {
		cfg.LimitMarkerTTL = 0
		bucket, err = s.js.CreateKeyValue(ctx, cfg)
	}
	if errors.Is(err, jetstream.ErrBucketExists) { // another process was faster
		return s.js.KeyValue(ctx, s.name)
	}
	return bucket, err
}

// subject returns the subject of the records of a key.
func (s *Table) subject(key string) string { return "$KV." + s.name + "." + key }

func (s *Table) Put(ctx context.Context, key string, value []byte, last uint64) (uint64, error) {
	n, err := s.bucket.Update(ctx, key, value, last)
	return n, meant(err)
}

// The headers of a deletion, as nats.go's key-value buckets write it.
const (
	operation = "KV-Operation"
	deletion  = "DEL"
	purge     = "PURGE"
)

// Delete publishes the deletion itself, because KeyValue's Delete treats revision 0 as any revision.
func (s *Table) Delete(ctx context.Context, key string, last uint64) error {
	m := nats.NewMsg(s.subject(key))
	m.Header.Set(operation, deletion)
	opts := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(last)}
	if s.ttl {
		m.Header.Set(operation, purge)
		m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
		opts = append(opts, jetstream.WithMsgTTL(remembered))
	}
	_, err := s.js.PublishMsg(ctx, m, opts...)
	return meant(err)
}
