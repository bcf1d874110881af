package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/clients/go"
)

// goDriver does with the Go client what the tests say, as testdata/driver.py does with the other one.
type goDriver struct {
	client *epicycle.Client
	mu     sync.Mutex // guards the output, and finished
	out    *json.Encoder
	finish map[string]chan string
	stop   context.CancelFunc
}

// goArgs are the arguments of all requests.
type goArgs struct {
	Key, In, At, Schedule, If, Prefix, State, Queue, Wait, Error, Keys, Body, Timeout string
	Retry                                                                             *epicycle.Retry
	Value                                                                             any
	To                                                                                epicycle.Target
	Limit, Max, Concurrency                                                           int
	Tokens                                                                            []string
	Headers                                                                           map[string]string
	Operations                                                                        []struct {
		goArgs
		Op string
	}
}

func drive(server, timeout string) {
	seconds, err := strconv.ParseFloat(timeout, 64)
	if err != nil {
		panic(err)
	}
	client, err := epicycle.New(server, epicycle.Options{Timeout: time.Duration(seconds * float64(time.Second))})
	if err != nil {
		panic(err)
	}
	d := &goDriver{client: client, out: json.NewEncoder(os.Stdout), finish: make(map[string]chan string)}
	for lines := bufio.NewReader(os.Stdin); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var in struct {
			Do   string
			Args goArgs
		}
		if err := json.Unmarshal(line, &in); err != nil {
			panic(err)
		}
		result, err := d.do(in.Do, &in.Args)
		if err != nil {
			d.say(map[string]any{"error": failureOf(err)})
			continue
		}
		d.say(map[string]any{"result": result})
	}
}

func (d *goDriver) say(line any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.out.Encode(line)
}

func failureOf(err error) map[string]any {
	if e, ok := errors.AsType[*epicycle.Error](err); ok {
		return map[string]any{"status": e.Status, "title": e.Title, "detail": e.Detail, "timer": e.Timer}
	}
	kind := reflect.TypeOf(err).String()
	if errors.Is(err, epicycle.ErrSignature) {
		kind = "SignatureError"
	}
	return map[string]any{"kind": kind, "detail": err.Error()}
}

// here returns nil if there is no timer.
func here(t epicycle.Timer, ok bool, err error) (any, error) {
	if err != nil || !ok {
		return nil, err
	}
	return t, nil
}

func (d *goDriver) do(do string, a *goArgs) (any, error) {
	ctx := context.Background()
	c := d.client
	switch do {
	case "set":
		return d.set(ctx, a)
	case "move":
		if a.At != "" {
			return here(c.MoveAt(ctx, a.Key, at(a.At)))
		}
		return here(c.Move(ctx, a.Key, duration(a.In)))
	case "pause":
		return here(c.Pause(ctx, a.Key))
	case "resume":
		return here(c.Resume(ctx, a.Key))
	case "get":
		return here(c.Get(ctx, a.Key))
	case "remove":
		return here(c.Remove(ctx, a.Key))
	case "revive":
		return here(c.Revive(ctx, a.Key))
	case "list":
		all := []epicycle.Timer{}
		for t, err := range c.All(ctx, epicycle.Query{Prefix: a.Prefix, State: a.State, Limit: a.Limit}) {
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		return all, nil
	case "removeAll":
		return c.RemoveAll(ctx, a.Prefix, nil)
	case "batch":
		return c.Batch(ctx, a.batch())
	case "take":
		return c.Take(ctx, a.Queue, a.Max, duration(a.Wait))
	case "done":
		return c.Done(ctx, a.Queue, a.Tokens...)
	case "fail":
		return c.Fail(ctx, a.Queue, a.Error, a.Tokens...)
	case "verify":
		return verify(a)
	}
	return nil, d.work(ctx, do, a)
}

// set returns an error with the timer that is there if a condition is not met, as the other clients do.
func (d *goDriver) set(ctx context.Context, a *goArgs) (any, error) {
	t, ok, err := d.client.Put(ctx, a.Key, a.setting())
	if err == nil && !ok {
		err = &epicycle.Error{Status: http.StatusConflict, Title: http.StatusText(http.StatusConflict), Timer: &t}
	}
	return t, err
}

func (a *goArgs) setting() epicycle.Setting {
	s := epicycle.Setting{Value: a.Value, To: a.To, Schedule: a.Schedule, Timeout: duration(a.Timeout), Retry: a.Retry, If: epicycle.If(a.If)}
	if a.In != "" {
		s.In = duration(a.In)
	}
	if a.At != "" {
		s.At = at(a.At)
	}
	return s
}

func (a *goArgs) batch() *epicycle.Batch {
	b := new(epicycle.Batch)
	for i := range a.Operations {
		switch op := &a.Operations[i]; op.Op {
		case "set":
			b.Put(op.Key, op.setting())
		case "move":
			b.Move(op.Key, duration(op.In))
		case "remove":
			b.Remove(op.Key)
		}
	}
	return b
}

func verify(a *goArgs) (any, error) {
	v, err := epicycle.NewVerifier(a.Keys)
	if err != nil {
		return nil, err
	}
	h := make(http.Header)
	for name, value := range a.Headers {
		h.Set(name, value)
	}
	delivery, err := v.Verify(h, []byte(a.Body))
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": delivery.ID, "key": delivery.Key, "attempt": delivery.Attempt, "value": delivery.Value}, nil
}

// work begins or ends a worker, or finishes one of its handlers.
func (d *goDriver) work(ctx context.Context, do string, a *goArgs) error {
	switch do {
	case "work":
		ctx, d.stop = context.WithCancel(ctx)
		w := epicycle.Worker{Concurrency: a.Concurrency, OnError: func(error) {}}
		go func() {
			if err := d.client.Work(ctx, a.Queue, w, d.handle); err != nil {
				d.say(map[string]any{"event": "ended", "error": failureOf(err)})
				return
			}
			d.say(map[string]any{"event": "ended"})
		}()
	case "finish":
		d.finished(a.Key) <- a.Error
	case "stop":
		d.stop()
	default:
		panic(do)
	}
	return nil
}

func (d *goDriver) handle(_ context.Context, f epicycle.Firing) error {
	d.say(map[string]any{"event": "begun", "key": f.Key, "value": f.Value, "attempt": f.Attempt})
	if text := <-d.finished(f.Key); text != "" {
		return errors.New(text)
	}
	return nil
}

func (d *goDriver) finished(key string) chan string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.finish[key] == nil {
		d.finish[key] = make(chan string, 100)
	}
	return d.finish[key]
}

func duration(text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}
