package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A NATS server is this program again, with the server of durable's own version.

// natsRole has the settings of a process that is a NATS server.
type natsRole struct {
	Dir  string
	Port int
	Sync bool // whether to sync to the disk before each answer
}

func natsServer(syncs bool) func(dir string) ([]serverSpec, error) {
	return func(dir string) ([]serverSpec, error) {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		return []serverSpec{{
			Addr:  loopback(port),
			Role:  &role{Nats: &natsRole{dir, port, syncs}},
			Ready: func(ctx context.Context, addr string) error { return natsReady(ctx, addr) },
		}}, nil
	}
}

func (r natsRole) run(until <-chan struct{}) error {
	s, err := server.NewServer(&server.Options{
		ServerName: "peers", Host: "127.0.0.1", Port: r.Port, JetStream: true, StoreDir: r.Dir,
		SyncAlways: r.Sync, NoSigs: true, NoLog: true,
	})
	if err != nil {
		return err
	}
	s.Start()
	<-until
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// reconnectWait is short, so that the time until a server is back is measured, and not the wait of the client.
const reconnectWait = 50 * time.Millisecond

func natsConnect(addr string) (*nats.Conn, error) {
	return nats.Connect("nats://"+addr, nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait), nats.ReconnectJitter(0, 0))
}

func natsReady(ctx context.Context, addr string) error {
	nc, err := nats.Connect("nats://" + addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	_, err = js.AccountInfo(ctx)
	return err
}

const natsStream = "TIMERS"

type natsStore struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	consume jetstream.ConsumeContext
}

func natsSchedules(syncs bool) system {
	s := system{
		Name: "NATS schedules",
		Settings: "one server, file storage, `sync_interval` of two minutes, which is the default; a stream with `AllowMsgSchedules` and the " +
			"retention of a work queue, a subject for each timer, a durable consumer with `AckWait` of 5 s",
		Answer: "in the system's memory; fsync within 2 minutes",
	}
	if syncs {
		s.Name = "NATS schedules, fsync"
		s.Settings = "the same with `sync_interval: always`"
		s.Answer = "after fsync"
	}
	s.Servers = natsServer(syncs)
	s.Open = openSchedules
	return s
}

func openSchedules(ctx context.Context, p place, handle func(string)) (_ store, err error) {
	s := &natsStore{}
	if s.conn, err = natsConnect(p.Addrs[0]); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.conn.Close()
		}
	}()
	if s.js, err = jetstream.New(s.conn); err != nil {
		return nil, err
	}
	stream, err := s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: natsStream, Subjects: []string{"set.>", "due.>"}, Storage: jetstream.FileStorage,
		Retention: jetstream.WorkQueuePolicy, AllowMsgSchedules: true,
	})
	if err != nil || handle == nil {
		return s, err
	}
	c, err := stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "worker", FilterSubject: "due.>", AckPolicy: jetstream.AckExplicitPolicy, AckWait: 5 * time.Second,
	})
	if err != nil {
		return nil, err
	}
	s.consume, err = c.Consume(func(m jetstream.Msg) {
		handle(keyIn(m.Data()))
		_ = m.Ack()
	})
	return s, err
}

func (s *natsStore) Schedule(ctx context.Context, key string, at time.Time, value []byte) error {
	m := nats.NewMsg("set." + key)
	m.Data = value
	m.Header.Set(jetstream.ScheduleHeader, "@at "+at.UTC().Format(time.RFC3339Nano))
	m.Header.Set(jetstream.ScheduleTargetHeader, "due."+key)
	_, err := s.js.PublishMsg(ctx, m)
	return err
}

// Move publishes the timer again, which replaces the message of the subject or makes a new message.
func (s *natsStore) Move(ctx context.Context, key string, at time.Time, value []byte) (bool, error) {
	err := s.Schedule(ctx, key, at, value)
	return err == nil, err
}

// Cancel purges the subject of a timer. The answer has the number of messages that were purged.
func (s *natsStore) Cancel(ctx context.Context, key string) (bool, error) {
	m, err := s.conn.RequestWithContext(ctx, "$JS.API.STREAM.PURGE."+natsStream, fmt.Appendf(nil, `{"filter":"set.%s"}`, key))
	if err != nil {
		return false, err
	}
	var answer struct {
		Success bool
		Purged  int
		Error   struct{ Description string }
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return false, err
	}
	if !answer.Success {
		return false, errors.New(answer.Error.Description)
	}
	return answer.Purged > 0, nil
}

func (s *natsStore) Pending(ctx context.Context) (int, error) {
	stream, err := s.js.Stream(ctx, natsStream)
	if err != nil {
		return 0, err
	}
	return int(stream.CachedInfo().State.Msgs), nil
}

func (s *natsStore) Close() error {
	if s.consume != nil {
		s.consume.Stop()
		<-s.consume.Closed()
	}
	s.conn.Close()
	return nil
}
