package dq_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/dq"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

const variable = "EPICYCLE_DQ_WORKER"

func TestMain(m *testing.M) {
	child.Main(variable, work)
	leak.Main(m)
}

// work puts jobs into the queue of a directory and consumes them until it is killed. It writes what was acknowledged,
// what was revoked, and what it has consumed.
func work(dir string, _ io.Reader, out io.Writer) error {
	conf := dq.DqConf{Dir: dir}
	var mu sync.Mutex
	say := func(what, body string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(out, what, body)
	}
	failed := make(chan error)
	go dq.NewConsumer(conf).Consume(func(body []byte) { say("consumed", string(body)) })
	for range 4 {
		p := dq.NewProducer(conf)
		go func() {
			for {
				if err := putOne(p, say); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

// putOne puts a job into the queue that is due within 30 ms, or in an hour and is revoked.
func putOne(p dq.Producer, say func(what, body string)) error {
	body := fmt.Sprint(rand.Uint64())
	if rand.IntN(4) > 0 {
		_, err := p.At([]byte(body), time.Now().Add(rand.N(30*time.Millisecond)))
		if err == nil {
			say("put", body)
		}
		return err
	}
	id, err := p.Delay([]byte(body), time.Hour)
	if err == nil {
		err = p.Revoke(id)
	}
	if err == nil {
		say("revoked", body)
	}
	return err
}

// After kills -9, each job that was acknowledged is consumed, and none that was revoked.
func TestKillNine(t *testing.T) {
	dir := t.TempDir()
	put, consumed, revoked := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	seen := map[string]map[string]bool{"put": put, "consumed": consumed, "revoked": revoked}
	for kill := range 4 {
		lines, busy := 0, make(chan bool)
		p, err := child.Start(child.Spec{Variable: variable, Config: dir, Line: func(line string) error {
			what, body, _ := strings.Cut(line, " ")
			if seen[what] == nil {
				return fmt.Errorf("%q", line)
			}
			seen[what][body] = true
			if lines++; lines == 200*(kill+1) {
				close(busy)
			}
			return nil
		}})
		require.NoError(t, err)
		select {
		case <-busy:
		case <-p.Ended():
		}
		p.End()
		require.GreaterOrEqual(t, lines, 200*(kill+1), "%v", p.Err())
	}
	left := make(map[string]bool)
	for body := range put {
		if !consumed[body] {
			left[body] = true
		}
	}
	require.NotEmpty(t, revoked)
	t.Logf("%d put, %d of them left, %d revoked", len(put), len(left), len(revoked))

	got := make(chan string)
	start(t, dq.DqConf{Dir: dir}, into(t, got))
	for len(left) > 0 {
		body := <-got
		delete(left, body)
		consumed[body] = true
	}
	for body := range revoked {
		require.NotContains(t, consumed, body)
	}
}
