package dq_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/dq"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/program"
	"github.com/epicycle-go/epicycle/tests/long"
)

// door is the door of a queue. The body of a job has its key and value.
type door struct {
	conf dq.DqConf
	ids  map[string]string // by key

	t       *testing.T
	w       *program.World
	jobs    dq.Producer
	service *dq.Service
}

func (d *door) Open(t *testing.T, w *program.World) {
	d.t, d.w = t, w
	d.conf.MaxAttempts, d.conf.Logger = w.MaxAttempts, slog.New(slog.NewTextHandler(io.Discard, nil))
	d.jobs = dq.NewProducer(d.conf)
	d.service = dq.NewService(d.conf, d.consume)
	go d.service.Start()
	synctest.Wait()
}

func (d *door) Close() {
	d.service.Stop()
	require.NoError(d.t, d.jobs.Close())
}

func (d *door) consume(body []byte) {
	var f program.Firing
	_, err := fmt.Sscan(string(body), &f.Key, &f.Value)
	if err == nil {
		err = d.w.Fire(f)
	}
	if err != nil {
		panic(err)
	}
}

// Do implements program.Door.
func (d *door) Do(op *program.Op) program.Answer {
	var err error
	switch body := []byte(op.Key + " " + op.Value); {
	case op.Kind == program.List: // there is none
	case op.Kind == program.Remove:
		err = d.jobs.Revoke(d.ids[op.Key])
	case op.At:
		d.ids[op.Key], err = d.jobs.At(body, d.w.Now().Add(op.In))
	default:
		d.ids[op.Key], err = d.jobs.Delay(body, op.In)
	}
	switch {
	case errors.Is(err, dq.ErrNotFound):
		return program.Answer{}
	case errors.Is(err, dq.ErrRunning):
		return program.Answer{OK: true, Text: running}
	}
	require.NoError(d.t, err)
	return program.Answer{OK: true}
}

const running = "running"

// Jobs are consumed, and can be revoked, as timers of the library fire and are removed.
func TestJobsAreAsTimersOfTheLibrary(t *testing.T) {
	cfg := program.Config{
		MaxAttempts: 1, Fresh: true, Plain: true, Apart: time.Second, Grid: 10 * time.Millisecond,
		Kinds:   []program.Kind{program.Set, program.Remove},
		Firings: func(f *program.Firing) { *f = program.Firing{Key: f.Key, Value: f.Value} },
		Answers: func(op *program.Op, a *program.Answer) {
			if op.Kind == program.Remove && len(a.Timers) > 0 && a.Timers[0].State == running {
				a.Text = running
			}
			a.Timers = nil
			if op.Kind == program.List {
				a.Text = ""
			}
		},
	}
	for seed := range uint64(long.Or(6, 200)) {
		cfg.Slow, cfg.Down = seed%2 == 0, time.Duration(seed%4/3)*20*time.Second
		var want []string
		synctest.Test(t, func(t *testing.T) { want = cfg.Run(t, seed, program.InDirectory(t), nil, !cfg.Slow) })
		synctest.Test(t, func(t *testing.T) {
			d := &door{conf: dq.DqConf{Dir: t.TempDir()}, ids: make(map[string]string)}
			program.Same(t, want, cfg.Run(t, seed, d, nil, !cfg.Slow), "seed %d", seed)
		})
	}
}
