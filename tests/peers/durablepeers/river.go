package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// riverArgs are the arguments of a job.
type riverArgs struct {
	Value []byte `json:"value"`
}

func (riverArgs) Kind() string { return "timer" }

type riverWorker struct {
	river.WorkerDefaults[riverArgs]
	handle func(key string)
}

func (w *riverWorker) Work(_ context.Context, job *river.Job[riverArgs]) error {
	w.handle(keyIn(job.Args.Value))
	return nil
}

type riverStore struct {
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
	works  bool
	ids    sync.Map // ids of the timers of this process, by key, since River returns an id to the caller
}

func riverOnPostgres() system {
	return system{
		Name: "River",
		Settings: "PostgreSQL's defaults (`fsync` and `synchronous_commit` on); pools of 32 connections; 256 workers, `FetchCooldown` 10 ms " +
			"(default 100 ms), `FetchPollInterval` 100 ms (default 1 s), `RescueStuckJobsAfter` 5 s (default an hour); the caller " +
			"must store the IDs of jobs; move is `JobCancel` and `Insert`",
		Answer:  "after fsync",
		Needs:   []program{postgresPrograms},
		Servers: postgresServer,
		Prepare: prepareRiver,
		Open:    openRiver,
	}
}

func prepareRiver(ctx context.Context, p place) error {
	pool, err := pgxpool.New(ctx, postgresURL(p.Addrs[0]))
	if err != nil {
		return err
	}
	defer pool.Close()
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

func openRiver(ctx context.Context, p place, handle func(string)) (_ store, err error) {
	s := &riverStore{works: handle != nil}
	if s.pool, err = pgxpool.New(ctx, postgresURL(p.Addrs[0])+"&pool_max_conns=32"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.pool.Close()
		}
	}()
	cfg := &river.Config{Logger: slog.New(slog.DiscardHandler)}
	if s.works {
		cfg.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 256}}
		cfg.FetchCooldown, cfg.FetchPollInterval = 10*time.Millisecond, 100*time.Millisecond
		cfg.JobTimeout, cfg.RescueStuckJobsAfter = 4*time.Second, 5*time.Second
		cfg.Workers = river.NewWorkers()
		river.AddWorker(cfg.Workers, &riverWorker{handle: handle})
	}
	if s.client, err = river.NewClient(riverpgxv5.New(s.pool), cfg); err != nil || !s.works {
		return s, err
	}
	return s, s.client.Start(context.WithoutCancel(ctx))
}

func (s *riverStore) Schedule(ctx context.Context, key string, at time.Time, value []byte) error {
	r, err := s.client.Insert(ctx, riverArgs{value}, &river.InsertOpts{ScheduledAt: at})
	if err == nil {
		s.ids.Store(key, r.Job.ID)
	}
	return err
}

func (s *riverStore) Move(ctx context.Context, key string, at time.Time, value []byte) (bool, error) {
	if ok, err := s.Cancel(ctx, key); !ok {
		return false, err
	}
	return true, s.Schedule(ctx, key, at, value)
}

// Cancel reports whether the job is cancelled. A job that is running is only requested to end.
func (s *riverStore) Cancel(ctx context.Context, key string) (bool, error) {
	id, ok := s.ids.LoadAndDelete(key)
	if !ok {
		return false, nil
	}
	job, err := s.client.JobCancel(ctx, id.(int64))
	if errors.Is(err, rivertype.ErrNotFound) {
		return false, nil
	}
	return err == nil && job.State == rivertype.JobStateCancelled, err
}

func (s *riverStore) Pending(ctx context.Context) (n int, err error) {
	err = s.pool.QueryRow(ctx,
		"SELECT count(*) FROM river_job WHERE state IN ('available', 'scheduled', 'retryable', 'running', 'pending')").Scan(&n)
	return n, err
}

func (s *riverStore) Close() (err error) {
	if s.works {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err = s.client.StopAndCancel(ctx)
	}
	s.pool.Close()
	return err
}
