package jetstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// This file finds a set that exists. It creates nothing: if a stream is missing, the set is damaged.

// inspected is the response to a request for the state of a stream.
type inspected struct {
	Config jetstream.StreamConfig `json:"config"`
	State  struct {
		First uint64 `json:"first_seq"`
		Last  uint64 `json:"last_seq"`
		Count uint64 `json:"messages"`
	} `json:"state"`
}

// inspect requests the state of a stream. It returns ErrDamaged if the stream is missing, and ErrSettings if its
// settings make it unusable.
func inspect(ctx context.Context, nc *nats.Conn, stream string, needs usage) (in inspected, err error) {
	if err = callAPI(ctx, nc, "STREAM.INFO."+stream, nil, &in); err == nil {
		err = checkSettings(in.Config, needs)
	}
	return in, missing(stream, err)
}

// missing returns ErrDamaged if err means that the stream is missing; otherwise it returns err.
func missing(stream string, err error) error {
	if isNoStream(err) {
		return fmt.Errorf("%w: the stream %s is missing: %w", storage.ErrDamaged, stream, err)
	}
	return err
}

// inspectLog inspects the stream of a partition, and reports the answer to Config.Progress.
func (s *Set) inspectLog(ctx context.Context, partition int) (inspected, error) {
	in, err := inspect(ctx, s.cfg.Conn, s.stream(partition), s.logNeeds(partition))
	s.answered()
	return in, err
}

func (s *Set) marksNeeds() usage {
	return usage{Subject: "epicycle." + s.cfg.Name + ".mark.*", PerSubject: 2, Largest: room}
}

func (s *Set) logNeeds(partition int) usage {
	return usage{Subject: s.subject(partition), Direct: true, Purge: true, Largest: int(s.cfg.Conn.MaxPayload())}
}

// find finds the marks and the record of a set, or returns ErrAbsent.
func (s *Set) find(ctx context.Context) (a about, err error) {
	in, err := inspect(ctx, s.cfg.Conn, s.marksStream(), s.marksNeeds())
	if isNoStream(err) {
		return a, fmt.Errorf("%w: %q", storage.ErrAbsent, s.marksStream())
	}
	if err != nil {
		return a, err
	}
	s.Replicas = in.Config.Replicas
	return s.about(ctx)
}

// partitions returns the number of partitions of a set. The error is ErrPartitions if Config has another number.
func partitions(ctx context.Context, cfg Config) (int, error) {
	s := &Set{cfg: cfg}
	a, err := s.about(ctx)
	if isNoStream(err) || errors.Is(err, storage.ErrAbsent) {
		err = fmt.Errorf("%w: %q", errUnopened, cfg.Name)
	}
	if err == nil {
		err = s.agrees(a)
	}
	return a.Partitions, err
}

// about reads the record, or returns ErrAbsent.
func (s *Set) about(ctx context.Context) (a about, err error) {
	data, _, err := lastThat(ctx, s.cfg.Conn, s.marksStream(), s.aboutSubject(), func(b []byte) bool {
		var a about
		return json.Unmarshal(b, &a) == nil && a.Format > 0
	})
	if err != nil {
		return a, err
	}
	err = json.Unmarshal(data, &a)
	switch {
	case a.Format < 1:
		return s.counted(ctx)
	case a.Format > format: // the other fields may mean anything in a later format
		return a, fmt.Errorf("%q has format %d, and this program knows format %d", s.cfg.Name, a.Format, format)
	case err != nil || a.Partitions < 1 || a.Partitions > MaxPartitions:
		return a, s.unreadable()
	}
	return a, nil
}

func (s *Set) unreadable() error {
	return fmt.Errorf("%w: the record of %q can't be read", storage.ErrDamaged, s.cfg.Name)
}

// counted recovers a record over which a stranger has published, by counting the logs. All logs were created before the
// record was written, and were empty then. If a log was deleted since, the frames of the other logs show that there
// were more logs.
func (s *Set) counted(ctx context.Context) (about, error) {
	a, used := about{Format: format}, false
	for a.Partitions < MaxPartitions {
		in, err := s.inspectLog(ctx, a.Partitions)
		if isNoStream(err) {
			break
		}
		if err != nil && !errors.Is(err, storage.ErrSettings) {
			return a, err
		}
		used = used || in.State.Last > 0
		a.Partitions++
	}
	if !used {
		return a, s.unreadable()
	}
	return a, nil
}

// checkTime is the time limit for checking one log.
const checkTime = 500 * time.Millisecond

// check checks the settings of all logs. It ignores a log that is missing, since whoever reads the log will notice
// that. It also ignores a log that has no leader.
func (s *Set) check(ctx context.Context, a about) error { return each(ctx, a.Partitions, s.checkLog) }

func (s *Set) checkLog(ctx context.Context, partition int) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	_, err := s.inspectLog(ctx, partition)
	if isUnready(err) || isNoStream(err) {
		return nil
	}
	return err
}

// answered reports to Config.Progress that the servers have answered.
func (s *Set) answered() {
	if s.cfg.Progress != nil {
		s.cfg.Progress()
	}
}

// together is the number of streams that are inspected concurrently.
const together = 4

// each calls do for each number below n, a few concurrently. It returns the first error, which also cancels the other
// calls.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var first error
	var once sync.Once
	wait.All(n, together, func(i int) error {
		if ctx.Err() != nil {
			return nil
		}
		err := do(ctx, i)
		if err != nil {
			once.Do(func() { first = err })
			cancel()
		}
		return err
	})
	return cmp.Or(first, ctx.Err())
}
