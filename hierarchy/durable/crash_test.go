package durable_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

var kills = flag.Int("kills", 4, "how often the crash test kills the process")

// worker is set in the process that is killed: its directory.
const worker = "EPICYCLE_TEST_WORKER"

func TestMain(m *testing.M) {
	servers.Main()
	if dir := os.Getenv(worker); dir != "" {
		work(dir)
	}
	child.Main(wholeWorker, workWhole)
	os.Exit(m.Run())
}

// work sets and removes timers until it is killed. It writes a line before and after each
// operation, and for each firing: "begin k op n", "done k op n", "fire k n".
func work(dir string) {
	h := new(hand)
	var err error
	h.timers, err = durable.Open(context.Background(), durable.Config[string, string]{Dir: dir, Handle: h.fire})
	h.must(err)
	h.say("open")
	for g := range 8 { // each has keys of its own
		go h.work(g)
	}
	select {}
}

// hand is what works in the process that is killed.
type hand struct {
	mu     sync.Mutex // held while a line is written
	timers *strs
}

func (h *hand) say(format string, args ...any) {
	h.sayLine(func() string { return fmt.Sprintf(format, args...) })
}

// sayLine says a line that is made while nothing else is said.
func (h *hand) sayLine(line func() string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Println(line())
}

// must ends the process if there is an error.
func (h *hand) must(err error) {
	if err != nil {
		h.say("failed %v", err)
		os.Exit(1)
	}
}

func (h *hand) fire(ctx context.Context, f firing) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() == nil { // else the operation that ended ctx may have been acknowledged
		fmt.Printf("fire %s %s\n", f.Key, f.Value)
	}
	return nil
}

// work works on the keys of g.
func (h *hand) work(g int) {
	r := rand.New(rand.NewPCG(uint64(g), uint64(os.Getpid())))
	for n := os.Getpid() * 100_000; ; n++ {
		k := fmt.Sprintf("%d-%d", g, r.IntN(20))
		if r.IntN(4) == 0 {
			h.say("begin %s remove %d", k, n)
			_, _, err := h.timers.Remove(context.Background(), k)
			h.must(err)
			h.say("done %s remove %d", k, n)
			continue
		}
		d := time.Hour
		if r.IntN(4) == 0 {
			d = time.Duration(r.IntN(20)) * time.Millisecond
		}
		h.say("begin %s set %d", k, n)
		h.must(errOf(h.timers.Set(context.Background(), k, strconv.Itoa(n), d)))
		h.say("done %s set %d", k, n)
	}
}

// history is what a key may have, by what the process said: each possible value, or "" for none.
type history map[string]map[string]bool

// note goes through one line.
func (h history) note(t *testing.T, line string) {
	f := strings.Fields(line)
	if len(f) < 3 || f[0] == "failed" {
		require.NotEqual(t, "failed", f[0], line)
		return
	}
	k := f[1]
	if h[k] == nil {
		h[k] = map[string]bool{"": true}
	}
	value := ""
	switch {
	case f[0] == "fire": // its end is in the log, or is not
		require.True(t, h[k][f[2]], "%s, but possible is %v", line, h[k])
		h[k][""] = true
		return
	case f[2] == "set":
		value = f[3]
	}
	if f[0] == "begin" {
		h[k][value] = true
		return
	}
	fired := h[k][""] && value != "" && h[k]["fired "+value]
	h[k] = map[string]bool{value: true}
	if fired {
		h[k][""] = true
	}
}

// startWorker starts the process that is killed, and waits for its first line: mostly "open", but what is due can fire
// before.
func startWorker(t *testing.T, dir string) (*exec.Cmd, *bufio.Scanner) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), worker+"="+dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan(), "%s", &errs)
	return cmd, lines
}

// A process is killed at random moments, again and again. What it has acknowledged is there.
func TestKillNine(t *testing.T) {
	dir := t.TempDir()
	h := history{}
	acknowledged := 0
	for range *kills {
		cmd, lines := startWorker(t, dir)
		said := []string{lines.Text()}
		time.AfterFunc(time.Duration(100+rand.IntN(400))*time.Millisecond, func() { cmd.Process.Kill() })
		for lines.Scan() {
			said = append(said, lines.Text())
		}
		_ = cmd.Wait()
		acknowledged += h.apply(t, said)
		h.compare(t, dir)
	}
	t.Logf("%d acknowledged operations", acknowledged)
}

// apply goes through the lines of one process, the last of which may be cut off. A firing can be
// said before the acknowledgement of the set that it belongs to.
func (h history) apply(t *testing.T, said []string) (done int) {
	for _, line := range said {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == "fire" {
			if h[f[1]] == nil {
				h[f[1]] = map[string]bool{"": true}
			}
			h[f[1]]["fired "+f[2]] = true
		}
		if len(f) == 4 && f[0] == "done" {
			done++
		}
		if len(f) < 3 || f[0] != "fire" && len(f) < 4 {
			continue
		}
		h.note(t, line)
	}
	return done
}

// compare opens the directory and finds each key with a value that is possible.
func (h history) compare(t *testing.T, dir string) {
	hold := make(chan bool)
	w, err := durable.Open(t.Context(), durable.Config[string, string]{Dir: dir,
		Handle: func(context.Context, firing) error { <-hold; return errors.New("not now") }})
	require.NoError(t, err)
	there := map[string]string{}
	for e, err := range w.All(t.Context()) {
		require.NoError(t, err)
		there[e.Key] = e.Value
	}
	for k, possible := range h {
		require.True(t, possible[there[k]], "%s is %q, but possible is %v", k, there[k], possible)
		h[k] = map[string]bool{there[k]: true}
	}
	for k := range there {
		require.Contains(t, h, k)
	}
	close(hold)
	require.NoError(t, w.Close())
}
