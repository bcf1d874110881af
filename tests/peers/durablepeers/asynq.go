package main

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

var redisProgram = onPath("redis-server", "redis-server")

// redisServer keeps an append-only file that is synced according to appendfsync.
func redisServer(dir, appendfsync string) (serverSpec, error) {
	port, err := freePort()
	if err != nil {
		return serverSpec{}, err
	}
	return serverSpec{
		Addr: loopback(port),
		Command: func() *exec.Cmd {
			return exec.Command(redisProgram.find(), "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir,
				"--appendonly", "yes", "--appendfsync", appendfsync, "--save", "")
		},
		Ready: redisReady,
	}, nil
}

func redisReady(ctx context.Context, addr string) error {
	conn, err := net.Dial("tcp", addr) // the client logs each failure to dial
	if err != nil {
		return err
	}
	_ = conn.Close()
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1})
	defer c.Close()
	return c.Ping(ctx).Err() // Redis answers with an error while it loads its data
}

const asynqQueue = "default"

type asynqStore struct {
	client    *asynq.Client
	inspector *asynq.Inspector
	server    *asynq.Server
}

func asynqOn(appendfsync string) system {
	s := system{
		Name: "asynq",
		Settings: "Redis with `appendonly yes`, `appendfsync everysec`, `save \"\"`; `Concurrency` 256, `DelayedTaskCheckInterval` " +
			"100 ms (default 5 s); a timer's key is its `TaskID`; move is `DeleteTask` and `Enqueue`",
		Answer: "in the system's memory; fsync within 1 s",
		Needs:  []program{redisProgram},
		Servers: func(dir string) ([]serverSpec, error) {
			s, err := redisServer(dir, appendfsync)
			return []serverSpec{s}, err
		},
		Open: openAsynq,
	}
	if appendfsync == "always" {
		s.Name, s.Settings, s.Answer = "asynq, fsync", "the same with `appendfsync always`", "after fsync"
	}
	return s
}

func openAsynq(_ context.Context, p place, handle func(string)) (store, error) {
	at := asynq.RedisClientOpt{Addr: p.Addrs[0]}
	s := &asynqStore{client: asynq.NewClient(at), inspector: asynq.NewInspector(at)}
	if handle == nil {
		return s, s.client.Ping()
	}
	s.server = asynq.NewServer(at, asynq.Config{
		Concurrency: 256, DelayedTaskCheckInterval: 100 * time.Millisecond, LogLevel: asynq.FatalLevel,
	})
	return s, s.server.Start(asynq.HandlerFunc(func(_ context.Context, t *asynq.Task) error {
		handle(keyIn(t.Payload()))
		return nil
	}))
}

func (s *asynqStore) Schedule(ctx context.Context, key string, at time.Time, value []byte) error {
	_, err := s.client.EnqueueContext(ctx, asynq.NewTask("timer", value), asynq.TaskID(key), asynq.ProcessAt(at))
	return err
}

func (s *asynqStore) Move(ctx context.Context, key string, at time.Time, value []byte) (bool, error) {
	if ok, err := s.Cancel(ctx, key); !ok {
		return false, err
	}
	return true, s.Schedule(ctx, key, at, value)
}

func (s *asynqStore) Cancel(_ context.Context, key string) (bool, error) {
	err := s.inspector.DeleteTask(asynqQueue, key)
	if errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) {
		return false, nil
	}
	if err != nil {
		if info, failed := s.inspector.GetTaskInfo(asynqQueue, key); failed == nil && info.State == asynq.TaskStateActive {
			return false, nil // a task can't be deleted while its handler runs
		}
	}
	return err == nil, err
}

func (s *asynqStore) Pending(context.Context) (int, error) {
	info, err := s.inspector.GetQueueInfo(asynqQueue)
	if errors.Is(err, asynq.ErrQueueNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Pending + info.Active + info.Scheduled + info.Retry, nil
}

func (s *asynqStore) Close() error {
	if s.server != nil {
		s.server.Shutdown()
	}
	return errors.Join(s.client.Close(), s.inspector.Close())
}
