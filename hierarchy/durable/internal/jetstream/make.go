package jetstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// This file creates a set that does not exist.

// create creates the streams of a name and then, when all exist, the record. If an existing stream can't be used, it
// creates nothing.
func (s *Set) create(ctx context.Context) (about, error) {
	a := about{format, cmp.Or(s.cfg.Partitions, DefaultPartitions)}
	if a.Partitions < 0 || a.Partitions > MaxPartitions {
		return a, fmt.Errorf("%w: %d is not between 1 and %d", ErrPartitions, a.Partitions, MaxPartitions)
	}
	used, err := s.used(ctx, a)
	if err != nil {
		return a, err
	}
	if used {
		return s.aboutWritten(ctx)
	}
	if s.Replicas, err = s.make(ctx, s.marksStream(), s.marksNeeds()); err != nil {
		return a, err
	}
	// One after the other: when three servers create several streams at once, they leave some requests without an
	// answer.
	for i := range a.Partitions {
		if _, err := s.make(ctx, s.stream(i), s.logNeeds(i)); err != nil {
			return a, err
		}
	}
	data, _ := json.Marshal(a)
	_, err = publish(ctx, s.cfg.Conn, s.aboutSubject(), nats.ExpectedLastSubjSeqHdr, 0, data)
	if errors.Is(err, storage.ErrRefused) { // another process was faster
		return s.about(ctx)
	}
	return a, err
}

// used reports whether a log of a set without a record was written to. If a log can't be used, it returns an error.
func (s *Set) used(ctx context.Context, a about) (bool, error) {
	for i := range a.Partitions {
		in, err := s.inspectLog(ctx, i)
		if isNoStream(err) {
			continue
		}
		if err != nil || in.State.Last > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// aboutWritten reads the record of a set whose logs are not empty. Logs are written to only after the record, so
// another process has just written the record, or it was lost.
func (s *Set) aboutWritten(ctx context.Context) (a about, err error) {
	for range recordTries {
		if a, err = s.find(ctx); !errors.Is(err, storage.ErrAbsent) {
			return a, err
		}
		if !wait.Sleep(ctx, recordPause) { // a leader that was just elected may not have the record yet
			return a, ctx.Err()
		}
	}
	return a, fmt.Errorf("%w: %q has logs, but the record of them is missing", storage.ErrDamaged, s.cfg.Name)
}

const (
	recordTries = 3
	recordPause = 100 * time.Millisecond
)

// make creates a stream, unless another process has just created it. It returns the number of the stream's replicas.
func (s *Set) make(ctx context.Context, name string, needs usage) (replicas int, err error) {
	cfg := jetstream.StreamConfig{
		Name: name, Subjects: []string{needs.Subject}, Storage: jetstream.FileStorage,
		Replicas: cmp.Or(s.cfg.Replicas, defaultReplicas), AllowDirect: true, DenyDelete: true,
		MaxMsgsPerSubject: cmp.Or(needs.PerSubject, -1),
	}
	made, err := s.js.CreateStream(ctx, cfg)
	if s.cfg.Replicas == 0 && has(err, codeNoCluster) {
		cfg.Replicas = 1
		made, err = s.js.CreateStream(ctx, cfg)
	}
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		made, err = s.js.Stream(ctx, name)
	}
	if err != nil {
		return 0, unanswered(err)
	}
	s.answered()
	is := made.CachedInfo().Config
	return is.Replicas, checkSettings(is, needs)
}

const defaultReplicas = 3
