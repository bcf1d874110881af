package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/steps"
	"github.com/epicycle-go/epicycle/tests/long"
)

// A process appends messages by Commit, while the log fails, and others take it over, trim it, and write into it. One
// goroutine does all of that, in virtual time, so the same history always has the same trace.

var histories, first = steps.Flags(long.Or(10_000, 100_000))

func TestMain(m *testing.M) { leak.Main(m) }

// What Commit returns is true: the message is in the log, or never will be, or that is unknown. It is known if all
// copies were refused and are not there, and once the log answers.
func TestHistoriesOfAppends(t *testing.T) {
	total := tally{results: make(map[string]int)}
	for i := range uint64(*histories) {
		steps.Check(t, *first+i, steps.Draw(*first+i, 1, 10), func(h steps.History, trace *steps.Trace) (err error) {
			synctest.Test(t, func(*testing.T) { err = run(h, trace, &total) })
			return err
		})
	}
	t.Log(total.Tally, total.results)
	if *histories >= 1000 {
		require.Len(t, total.results, 7, "%v", total.results)
	}
}

// tally counts what has happened, and how often Commit has returned what.
type tally struct {
	steps.Tally
	results map[string]int
}

// world is a log, and what is known of it.
type world struct {
	*steps.Trace
	*tally
	r     *rand.Rand // of the present step
	disk  memlog.Disk
	count int               // of messages
	had   map[string]uint64 // messages that the log has had, and their numbers
	never []string          // messages that the log will never have, as Commit has said
	wrong error

	// Of the present Commit:

	ctx     context.Context
	heals   time.Time // when the faults end
	faults  []memlog.Fault
	events  []int // see meanwhile
	rate    int   // one call of the log in so many meets a fault
	least   int   // the size of the largest message that the log has always taken
	copies  int   // how many were sent
	certain bool  // each copy was refused, and the log could be read each time
	silent  bool  // the last copy had no answer
	doubts  int
}

func run(h steps.History, trace *steps.Trace, total *tally) error {
	begun := time.Now()
	w := &world{Trace: trace, tally: total, had: make(map[string]uint64)}
	for _, s := range h.Steps {
		w.r = steps.Rand(s)
		w.commit()
	}
	w.disk.Arrive()
	w.look()
	for _, text := range w.never {
		if w.had[text] > 0 {
			w.fail("lost: the log has had %q, which it never should", text)
		}
	}
	w.Histories++
	w.Time += time.Since(begun)
	return w.wrong
}

func (w *world) fail(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf(format, args...)
	}
}

// message returns one that belongs in a place. Elsewhere it is a stranger's, as a frame is.
func (w *world) message(who string, number uint64) []byte {
	w.count++
	return fmt.Appendf(nil, "%d %s %d%*s", number, who, w.count, w.r.IntN(90), "")
}

func isStranger(data []byte, number uint64) bool {
	return !bytes.HasPrefix(data, fmt.Appendf(nil, "%d ", number))
}

func (w *world) bounds() storage.Bounds {
	b, _ := w.disk.Copy().Open().Bounds(context.Background())
	return b
}

// look records what the log has, before anything is deleted.
func (w *world) look() {
	b := w.bounds()
	number := b.First
	for data := range w.disk.Copy().Open().Read(context.Background(), b.First, b.Last) {
		if !isStranger(data, number) {
			w.had[string(data)] = number
		}
		number++
	}
}

// commit appends a message. In some cases another process has appended one meanwhile.
func (w *world) commit() {
	begun := time.Now()
	w.heals, w.rate = begun.Add(time.Duration(w.r.Int64N(int64(time.Minute)))), 2+w.r.IntN(3)
	w.faults, w.events = someOf(w.r, memlog.Copy), someOf(w.r, events)
	w.least, w.copies, w.certain, w.silent, w.doubts = 1<<20, 0, true, false, 0
	w.disk.SetLag(2 + w.r.IntN(6))
	last := w.bounds().Last
	if last > 0 && w.r.IntN(6) == 0 {
		last--
	}
	data := w.message("ours", last+1)
	ctx, cancel := context.WithTimeout(context.Background(), w.someTime())
	defer cancel()
	w.ctx = ctx
	log := connection{w.disk.Open(), w}
	log.SetFault(func([]byte) memlog.Fault { return w.fault() })
	err := storage.Patience{Stranger: isStranger, Doubt: w.doubt}.Commit(ctx, log, last, data)
	log.Close()
	w.Operations++
	w.Add("%q: %v", data, err)
	w.judge(last, string(data), err)
	if healed := time.Since(w.heals); healed > 2*answer+time.Second {
		w.fail("waits: the log has answered for %v", healed)
	}
	w.heal()
}

// answer is how long Commit waits for an answer.
const answer = 5 * time.Second

// someTime returns how long a Commit may take.
func (w *world) someTime() time.Duration {
	if w.r.IntN(3) == 0 {
		return time.Duration(w.r.Int64N(int64(time.Minute)))
	}
	return 2 * time.Minute
}

// doubt is called once it is unclear what has become of a message.
func (w *world) doubt(err error) {
	w.doubts++
	if errors.Is(err, context.DeadlineExceeded) && w.ctx.Err() == nil {
		w.fail("doubt: %v is the error of a context that its caller does not know", err)
	}
}

// judge judges what Commit has returned.
func (w *world) judge(last uint64, text string, err error) {
	w.look()
	what := w.meaning(last, text, err)
	if w.certain && what == "unknown" {
		w.fail("certain: the log has refused all copies of %q, and has not had it: %v", text, err)
	}
	w.doubted()
	w.results[what]++
}

// meaning returns what an error says, and checks that it is true.
func (w *world) meaning(last uint64, text string, err error) (what string) {
	b := w.bounds()
	switch {
	case err == nil:
		if what = "committed"; w.had[text] == 0 {
			w.fail("lost: %q is not there", text)
		}
	case errors.Is(err, storage.ErrTaken), errors.Is(err, storage.ErrStranger):
		if what = "taken"; errors.Is(err, storage.ErrStranger) {
			what = "stranger"
		}
		if w.never = append(w.never, text); b.Last <= last {
			w.fail("taken: nothing is in the place of %q", text)
		}
	case errors.Is(err, storage.ErrTooLarge):
		if what, w.never = "too large", append(w.never, text); len(text) <= w.least {
			w.fail("too large: %d bytes, and the log takes %d", len(text), w.least)
		}
	case errors.Is(err, storage.ErrReplaced):
		if what = "replaced"; b.First <= last+1 {
			w.fail("replaced: the log begins with %d", b.First)
		}
	case errors.Is(err, w.ctx.Err()):
		what = "given up"
	default:
		if what = "unknown"; len(text) <= w.least {
			w.fail("unknown: %v, though nothing was too large", err)
		}
	}
	return what
}

// doubted checks that a doubt is told of once, if a message is sent again.
func (w *world) doubted() {
	if w.doubts > 1 || w.doubts == 0 && w.copies > 1 {
		w.fail("doubt: it was told of %d times, for %d copies", w.doubts, w.copies)
	}
}
