package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/beanstalkd/go-beanstalk"
	"github.com/zeromicro/go-queue/dq"
	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stores/redis"
)

var beanstalkProgram = onPath("beanstalkd", "beanstalkd")

const (
	tube = "timers"
	// dq refuses to write to fewer beanstalkds than two.
	beanstalks = 2
)

type dqStore struct {
	dq.Producer
	addrs []string
	ids   sync.Map // ids of the timers of this process, by key, since dq returns an id to the caller
}

func dqOn(syncMillis int) system {
	s := system{
		Name: "dq",
		Settings: fmt.Sprintf("two beanstalkds with `-b`, and `-f 50`, which is the default: fsync at most every 50 ms; a Redis with `appendfsync "+
			"everysec` for its locks; the caller must store the IDs of jobs; move is `Revoke` and `At`. Handlers run one at a time for each of the %d beanstalkds", beanstalks),
		Answer: "in the system's memory of two servers; fsync within 50 ms",
		Needs:  []program{beanstalkProgram, redisProgram},
		Servers: func(dir string) ([]serverSpec, error) {
			return dqServers(dir, syncMillis)
		},
		Open: openDQ,
	}
	if syncMillis == 0 {
		s.Name, s.Settings, s.Answer = "dq, fsync", "the same with `-f 0`: fsync for each write", "after fsync of two servers"
	}
	return s
}

func dqServers(dir string, syncMillis int) (all []serverSpec, err error) {
	for i := range beanstalks {
		files, err := inDir(filepath.Join(dir, "beanstalkd"+strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		all = append(all, serverSpec{
			Addr: loopback(port),
			Command: func() *exec.Cmd {
				return exec.Command(beanstalkProgram.find(), "-l", "127.0.0.1", "-p", strconv.Itoa(port),
					"-b", files, "-f", strconv.Itoa(syncMillis))
			},
			Ready: func(_ context.Context, addr string) error {
				c, err := beanstalk.Dial("tcp", addr)
				if err == nil {
					_, err = c.ListTubes()
					_ = c.Close()
				}
				return err
			},
		})
	}
	files, err := inDir(filepath.Join(dir, "redis"))
	if err != nil {
		return nil, err
	}
	locks, err := redisServer(files, "everysec")
	return append(all, locks), err
}

func openDQ(_ context.Context, p place, handle func(string)) (store, error) {
	logx.Disable()
	conf := dq.DqConf{Redis: redis.RedisConf{Host: p.Addrs[beanstalks], Type: redis.NodeType}}
	for _, addr := range p.Addrs[:beanstalks] {
		conf.Beanstalks = append(conf.Beanstalks, dq.Beanstalk{Endpoint: addr, Tube: tube})
	}
	if handle != nil { // the consumer ends with the process
		go dq.NewConsumer(conf).Consume(func(body []byte) { handle(keyIn(body)) })
	}
	return &dqStore{Producer: dq.NewProducer(conf.Beanstalks), addrs: p.Addrs[:beanstalks]}, nil
}

func (s *dqStore) Schedule(_ context.Context, key string, at time.Time, value []byte) error {
	id, err := s.At(value, at)
	if err == nil {
		s.ids.Store(key, id)
	}
	return err
}

func (s *dqStore) Move(ctx context.Context, key string, at time.Time, value []byte) (bool, error) {
	if ok, err := s.Cancel(ctx, key); !ok {
		return false, err
	}
	return true, s.Schedule(ctx, key, at, value)
}

// Cancel reports whether both beanstalkds had the job.
func (s *dqStore) Cancel(_ context.Context, key string) (bool, error) {
	id, ok := s.ids.LoadAndDelete(key)
	if !ok {
		return false, nil
	}
	err := s.Revoke(id.(string))
	if err != nil && strings.Contains(err.Error(), beanstalk.ErrNotFound.Error()) {
		return false, nil
	}
	return err == nil, err
}

// Pending returns the number of jobs of the beanstalkd that has the most jobs.
func (s *dqStore) Pending(context.Context) (most int, err error) {
	for _, addr := range s.addrs {
		n, failed := jobs(addr)
		most, err = max(most, n), errors.Join(err, failed)
	}
	return most, err
}

func jobs(addr string) (n int, err error) {
	c, err := beanstalk.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	stats, err := beanstalk.NewTube(c, tube).Stats()
	if errors.Is(err, beanstalk.ErrNotFound) {
		return 0, nil
	}
	for _, state := range []string{"ready", "reserved", "delayed", "buried"} {
		jobs, _ := strconv.Atoi(stats["current-jobs-"+state])
		n += jobs
	}
	return n, err
}
