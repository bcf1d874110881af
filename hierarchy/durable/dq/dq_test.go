package dq_test

import (
	"bytes"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/dq"
)

// start consumes in a goroutine of its own until the test ends, or stop is called.
func start(t *testing.T, conf dq.DqConf, consume dq.Consume) (stop func()) {
	s := dq.NewService(conf, consume)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Start()
	}()
	stop = func() { s.Stop(); <-ended }
	t.Cleanup(stop)
	return stop
}

func producer(t *testing.T, conf dq.DqConf) dq.Producer {
	p := dq.NewProducer(conf)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// put returns the ID of a job that is due after a delay.
func put(t *testing.T, p dq.Producer, body string, delay time.Duration) string {
	id, err := p.Delay([]byte(body), delay)
	require.NoError(t, err)
	require.NotEmpty(t, id)
	return id
}

// onMock is a queue in a directory of its own, with a clock for the test to move.
func onMock(t *testing.T) (dq.DqConf, *clock.Mock) {
	mock := clock.NewMock()
	mock.Set(time.Now())
	return dq.DqConf{Dir: t.TempDir(), Clock: mock}, mock
}

// into returns a Consume that sends bodies to a channel, until the test ends.
func into(t *testing.T, c chan<- string) dq.Consume {
	return func(body []byte) {
		select {
		case c <- string(body):
		case <-t.Context().Done():
		}
	}
}

// Jobs are consumed when they are due, in the order in which they became due if there is one place.
func TestDelayAndAt(t *testing.T) {
	conf, mock := onMock(t)
	conf.Concurrency = 1
	p := producer(t, conf)
	got := make(chan string)
	start(t, conf, into(t, got))
	put(t, p, "third", 3*time.Second)
	_, err := p.At([]byte("second"), mock.Now().Add(2*time.Second))
	require.NoError(t, err)
	put(t, p, "first", time.Second)
	mock.Add(time.Second - 1)
	put(t, p, "now", 0)
	mock.Add(0)
	require.Equal(t, "now", <-got)
	mock.Add(1)
	require.Equal(t, "first", <-got)
	mock.Add(time.Hour)
	require.Equal(t, "second", <-got)
	require.Equal(t, "third", <-got)
}

// A job is consumed however late it is, and at once if its time had passed before it was put.
func TestLate(t *testing.T) {
	conf, mock := onMock(t)
	p := dq.NewProducer(conf)
	put(t, p, "a day late", time.Minute)
	require.NoError(t, p.Close())
	mock.Add(24 * time.Hour)
	p = producer(t, conf)
	put(t, p, "not yet", time.Hour) // the queue is open again
	mock.Add(0)
	got := make(chan string)
	start(t, conf, into(t, got))
	require.Equal(t, "a day late", <-got)

	_, err := p.At([]byte("before it was put"), mock.Now().Add(-time.Hour))
	require.NotErrorIs(t, err, dq.ErrTimeBeforeNow)
	require.NoError(t, err)
	_, err = p.Delay([]byte("before it was put"), -time.Hour)
	require.NoError(t, err)
	mock.Add(0)
	require.Equal(t, "before it was put", <-got)
	require.Equal(t, "before it was put", <-got)
}

// A consumer that panics or exits its goroutine is called again, with others meanwhile.
func TestFailedAttempts(t *testing.T) {
	conf, mock := onMock(t)
	conf.Concurrency, conf.MaxAttempts = 1, -1
	var logged bytes.Buffer
	conf.Logger = slog.New(slog.NewTextHandler(&logged, nil))
	p := producer(t, conf)
	got := make(chan string)
	attempts := 0
	stop := start(t, conf, func(body []byte) {
		got <- string(body)
		if string(body) == "other" {
			return
		}
		switch attempts++; attempts {
		case 1:
			panic("not yet")
		case 2:
			runtime.Goexit()
		}
	})
	put(t, p, "fails", time.Second)
	mock.Add(time.Second)
	for range 3 {
		require.Equal(t, "fails", <-got)
		put(t, p, "other", 0)
		mock.Add(0)
		require.Equal(t, "other", <-got) // so the attempt before has ended, as there is one place
		mock.Add(time.Hour)
	}
	stop()
	require.Equal(t, 3, attempts)
	require.Contains(t, logged.String(), "not yet")
	require.Contains(t, logged.String(), "dq_test.go") // the stack
}

// After MaxAttempts a job is dead: it is kept, and not consumed.
func TestDead(t *testing.T) {
	conf, mock := onMock(t)
	conf.MaxAttempts, conf.Logger = 1, slog.New(slog.DiscardHandler)
	p := producer(t, conf)
	called := make(chan bool)
	stop := start(t, conf, func([]byte) { called <- true; panic("no") })
	id := put(t, p, "fails", 0)
	mock.Add(0)
	<-called
	stop()
	mock.Add(24 * time.Hour)
	got := make(chan string, 1)
	stop = start(t, conf, into(t, got))
	put(t, p, "other", 0)
	mock.Add(0)
	require.Equal(t, "other", <-got)
	stop()
	require.Empty(t, got)
	require.NoError(t, p.Revoke(id), "it was there")
}

func TestRevoke(t *testing.T) {
	conf, mock := onMock(t)
	p := producer(t, conf)
	kept, revoked, both := put(t, p, "kept", time.Second), put(t, p, "revoked", time.Second), put(t, p, "both", time.Second)
	require.NoError(t, p.Revoke(revoked))
	require.ErrorIs(t, p.Revoke(revoked), dq.ErrNotFound)
	require.ErrorIs(t, p.Revoke(""), dq.ErrNotFound)
	due := put(t, p, "due, but no consumer is there", 0)
	mock.Add(0)
	err := p.Revoke(due + "," + revoked + "," + both)
	require.ErrorIs(t, err, dq.ErrNotFound)
	require.Equal(t, 1, strings.Count(err.Error(), "no such job"), err)

	begun, finish := make(chan string), make(chan bool)
	conf.Logger = slog.New(slog.DiscardHandler)
	stop := start(t, conf, func(body []byte) { begun <- string(body); <-finish; panic("it would be called again") })
	mock.Add(time.Second)
	require.Equal(t, "kept", <-begun)
	require.ErrorIs(t, p.Revoke(kept), dq.ErrRunning)
	require.ErrorIs(t, p.Revoke(kept), dq.ErrNotFound)
	close(finish)
	stop()
	mock.Add(24 * time.Hour)
	got := make(chan string, 1)
	stop = start(t, conf, into(t, got))
	put(t, p, "last", 0)
	mock.Add(0)
	require.Equal(t, "last", <-got)
	stop()
	require.Empty(t, got)
}

// Stop begins no further call of the function, and waits for those that run. What is due is kept for the next consumer.
func TestStop(t *testing.T) {
	conf, mock := onMock(t)
	conf.Concurrency = 2
	p := producer(t, conf)
	begun, finish := make(chan bool, 5), make(chan bool)
	var ended, running, most atomic.Int32
	stop := start(t, conf, func([]byte) {
		most.Store(max(most.Load(), running.Add(1)))
		begun <- true
		<-finish
		running.Add(-1)
		ended.Add(1)
	})
	for range 5 {
		put(t, p, "job", 0)
	}
	mock.Add(0)
	<-begun
	<-begun
	stopped := make(chan int)
	go func() { stop(); stopped <- int(ended.Load()) - len(begun) }()
	close(finish)
	require.Equal(t, 2, <-stopped, "all that had begun had ended")
	require.LessOrEqual(t, most.Load(), int32(2))
	start(t, conf, func([]byte) { ended.Add(1); begun <- true })
	for range 3 { // by the one or the other
		<-begun
	}
	require.EqualValues(t, 5, ended.Load())
}

// After Stop, Consume returns at once. Stop may be called twice.
func TestConsumeAfterStop(t *testing.T) {
	conf, _ := onMock(t)
	c := dq.NewConsumer(conf)
	c.Stop()
	c.Consume(func([]byte) { t.Error("called") })
	c.Stop()
}

// Many producers and consumers of a directory share it. Each job is consumed once.
func TestShared(t *testing.T) {
	conf, mock := onMock(t)
	var mu sync.Mutex
	times := make(map[string]int)
	all := make(chan bool)
	for range 3 {
		start(t, conf, func(body []byte) {
			mu.Lock()
			defer mu.Unlock()
			times[string(body)]++
			if len(times) == 40 {
				close(all)
			}
		})
	}
	var wg sync.WaitGroup
	for g := range 4 {
		p := producer(t, conf)
		wg.Go(func() {
			for i := range 10 {
				if _, err := p.Delay([]byte{byte(g), byte(i)}, time.Second); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	mock.Add(time.Second)
	<-all
	mu.Lock()
	defer mu.Unlock()
	for body, n := range times {
		require.Equal(t, 1, n, "%q", body)
	}
}

func TestErrors(t *testing.T) {
	for _, conf := range []dq.DqConf{{}, {Dir: "d", NATS: "nats://127.0.0.1:1"}, {Dir: "d", Name: "a name"}} {
		_, err := dq.NewProducer(conf).Delay(nil, 0)
		require.ErrorIs(t, err, durable.ErrArgument)
		require.Equal(t, 1, strings.Count(err.Error(), "dq: "), err)
	}
	_, err := dq.NewProducer(dq.DqConf{NATS: "nats://127.0.0.1:1"}).Delay(nil, 0)
	require.ErrorContains(t, err, "dq: the queue can't be opened: ")

	conf, _ := onMock(t)
	p := dq.NewProducer(conf)
	_, err = p.Delay(make([]byte, 64<<10+1), 0)
	require.ErrorIs(t, err, durable.ErrTooLarge)
	other := conf
	other.MaxAttempts = 3
	_, err = dq.NewProducer(other).Delay(nil, 0)
	require.ErrorIs(t, err, durable.ErrArgument)
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	_, err = p.At(nil, time.Now())
	require.ErrorIs(t, err, durable.ErrClosed)
	require.ErrorIs(t, p.Revoke("id"), durable.ErrClosed)
	_, err = producer(t, other).Delay(nil, time.Hour)
	require.NoError(t, err, "nobody has it open")
}

// says is a slog.Handler's writer that sends each line.
type says chan string

func (s says) Write(line []byte) (int, error) { s <- string(line); return len(line), nil }

// A consumer whose queue can't be opened says so until it can, or is stopped.
func TestConsumerWaitsForItsQueue(t *testing.T) {
	conf, mock := onMock(t)
	conf.MaxAttempts = 3
	first := dq.NewProducer(conf)
	put(t, first, "job", 0)
	conf.MaxAttempts = 0
	lines := make(says)
	conf.Logger = slog.New(slog.NewTextHandler(lines, nil))
	got := make(chan string)
	start(t, conf, into(t, got))
	require.Contains(t, <-lines, "nothing is consumed yet")
	require.NoError(t, first.Close())
	put(t, producer(t, conf), "other", time.Hour) // the queue is open again
	mock.Add(0)
	require.Equal(t, "job", <-got)

	stop := start(t, dq.DqConf{Logger: conf.Logger}, nil)
	require.Contains(t, <-lines, "DqConf has none of Dir, NATS and Conn")
	stop()
}

// Conn is of an interface type, and has to be a connection all the same.
func TestConnOfAnotherType(t *testing.T) {
	_, err := producer(t, dq.DqConf{Conn: (*nats.Conn)(nil)}).Delay(nil, 0)
	require.ErrorIs(t, err, durable.ErrArgument)
}
