package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/client"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// bench measures a server.
type bench struct {
	*remote
	ctx     context.Context
	client  *client.Client
	conns   int
	batches int
	size    int
	last    time.Duration
	rate    int
	timers  int
}

const benchPrefix = "epicycle-bench-"

func benchCommand(std streams) *cobra.Command {
	b := new(bench)
	c := &cobra.Command{
		Use: "bench [put] [batch] [fire] [memory] [list]", Short: "Measure a server",
		Long:      "Measure a server. Timers with the prefix " + benchPrefix + " are set, and removed at the end.",
		ValidArgs: []string{"put", "batch", "fire", "memory", "list"}, Args: cobra.OnlyValidArgs,
	}
	c.Flags().IntVar(&b.conns, "conns", 64, "connections that set timers one by one")
	c.Flags().IntVar(&b.batches, "batches", 4, "connections that set timers in batches")
	c.Flags().IntVar(&b.size, "size", 1000, "operations in a batch")
	c.Flags().DurationVar(&b.last, "for", 5*time.Second, "how long each measurement lasts")
	c.Flags().IntVar(&b.rate, "rate", 2000, "webhooks a second")
	c.Flags().IntVar(&b.timers, "timers", 1000000, "timers in memory")
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) (err error) {
		b.remote, b.ctx = r, c.Context()
		if b.client, err = dial(r.server, b.conns); err != nil {
			return err
		}
		defer b.client.Close()
		if b.conns < 1 || b.batches < 1 || b.size < 1 || b.rate < 1 || b.last <= 0 {
			return usageError("all figures must be positive")
		}
		defer func() { err = errors.Join(err, b.tidy()) }()
		for _, what := range []struct {
			name string
			run  func() error
		}{{"put", b.put}, {"batch", b.batch}, {"fire", b.fire}, {"memory", b.memory}, {"list", b.list}} {
			if len(args) > 0 && !contains(args, what.name) {
				continue
			}
			if err := what.run(); err != nil {
				return err
			}
		}
		return nil
	})
}

func contains(all []string, one string) bool {
	for _, other := range all {
		if other == one {
			return true
		}
	}
	return false
}

// tidy removes the timers that were set.
func (b *bench) tidy() error {
	_, err := b.removeAll()
	return err
}

func (b *bench) removeAll() (removed int, err error) {
	progress := terminal.New(b.std.err, os.Getenv).Progress("removed", -1)
	defer progress.End()
	return b.client.RemoveAll(context.WithoutCancel(b.ctx), benchPrefix, progress.At)
}

// benchResult is the result of a measurement.
type benchResult struct {
	What string  `json:"what"`
	Rate float64 `json:"per_second,omitempty"`
	P50  string  `json:"p50,omitempty"`
	P99  string  `json:"p99,omitempty"`
	Max  string  `json:"max,omitempty"`
	More string  `json:"more,omitempty"`
}

func (b *bench) report(what string, rate float64, h *hierarchy.Histogram, more string) error {
	r := benchResult{What: what, Rate: rate, More: more}
	if h != nil && h.Count() > 0 {
		r.P50, r.P99, r.Max = terminal.Span(h.Quantile(.5)), terminal.Span(h.Quantile(.99)), terminal.Span(h.Max())
	}
	return b.print(&r, func() error {
		_, err := fmt.Fprintf(b.std.out, "%-36s %10s/s  p50 %-8s p99 %-8s max %-8s %s\n", what, terminal.Count(int64(rate)), r.P50, r.P99, r.Max, more)
		return err
	})
}

// crowd calls f in n goroutines, again and again, for the time of the measurement. It returns the rate and the
// durations of the calls.
func (b *bench) crowd(n int, f func(worker, call int) error) (rate float64, h hierarchy.Histogram, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	begun := time.Now()
	for worker := range n {
		all.Go(func() {
			var own hierarchy.Histogram
			var e error
			for call := 0; e == nil && time.Since(begun) < b.last && b.ctx.Err() == nil; call++ {
				at := time.Now()
				if e = f(worker, call); e == nil {
					own.Add(time.Since(at))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			h.Merge(own)
			err = errors.Join(err, e)
		})
	}
	all.Wait()
	return float64(h.Count()) / time.Since(begun).Seconds(), h, err
}

const benchBody = `{"in":"1h","value":{"order":17,"text":"%s"},"to":{"queue":"` + benchPrefix + `"}}`

// send sends a body that was encoded before, so that the client takes as little of the machine as possible.
func (b *bench) send(method, path, body string) error { return b.sendIn(b.ctx, method, path, body) }

func (b *bench) sendIn(ctx context.Context, method, path, body string) error {
	resp, err := b.client.Open(ctx, method, path, strings.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func (b *bench) put() error { return b.putAs(fmt.Sprintf("PUT, %d connections", b.conns)) }

func (b *bench) putAs(what string) error {
	body := fmt.Sprintf(benchBody, strings.Repeat("x", 64))
	rate, h, err := b.crowd(b.conns, func(worker, call int) error {
		return b.send(http.MethodPut, client.Path(fmt.Sprint(benchPrefix, worker, "-", call)), body)
	})
	if err != nil {
		return err
	}
	return b.report(what, rate, &h, "")
}

// batchBody returns a batch of n timers with values of 100 bytes, numbered from from on.
func (b *bench) batchBody(name string, from, n int) string {
	var s strings.Builder
	s.WriteString(`{"operations":[`)
	value := strings.Repeat("x", 98)
	for i := range n {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, `{"op":"set","key":"%s%s-%d","in":"24h","value":"%s","to":{"queue":"q"}}`, benchPrefix, name, from+i, value)
	}
	s.WriteString(`]}`)
	return s.String()
}

func (b *bench) batch() error {
	bodies := make([]string, b.batches)
	for i := range bodies {
		bodies[i] = b.batchBody(fmt.Sprint(i), 0, b.size)
	}
	rate, h, err := b.crowd(b.batches, func(worker, _ int) error { return b.send(http.MethodPost, "/v1/batch", bodies[worker]) })
	if err != nil {
		return err
	}
	return b.report(fmt.Sprintf("batches of %s, %d connections", terminal.Count(b.size), b.batches), rate*float64(b.size), &h, "timers")
}

// memory sets many timers, and measures how much memory they take.
func (b *bench) memory() error {
	before, err := b.resident()
	if err != nil {
		return err
	}
	took, err := b.preload("memory")
	if err != nil {
		return err
	}
	after, err := b.resident()
	if err != nil {
		return err
	}
	return b.report(fmt.Sprintf("%s timers with 100-byte values", terminal.Count(b.timers)), float64(b.timers)/took.Seconds(), nil,
		fmt.Sprintf("memory %s, before %s", terminal.Amount(after), terminal.Amount(before)))
}

// resident returns the number of bytes of memory that the server uses.
func (b *bench) resident() (int64, error) {
	resp, err := b.client.Open(b.ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	m, err := parseMetrics(resp.Body)
	if err != nil {
		return 0, err
	}
	for _, one := range m["process_resident_memory_bytes"].GetMetric() {
		return int64(one.GetGauge().GetValue()), nil
	}
	return 0, errors.New("the server does not know its memory")
}
