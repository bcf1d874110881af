package partition

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// otherRequest is the error of a RequestID that was used before for other operations.
const otherRequest = "the request's id was used for another request"

// request calls for operations under an id.
func (b *bench) request(serial uint64, ops ...core.Op) (*core.Call, error) {
	return b.requestOf(7, serial, ops...)
}

func (b *bench) requestOf(caller, serial uint64, ops ...core.Op) (*core.Call, error) {
	c := &core.Call{Ops: ops, Request: core.RequestID{Caller: caller, Serial: serial}}
	return c, b.p.Do(b.t.Context(), c)
}

func (b *bench) setOp(k, v string) core.Op {
	return core.Op{Kind: frame.Set, Key: []byte(k), Value: []byte(v), In: 100 * time.Hour}
}

func removeOp(k string) core.Op { return core.Op{Kind: frame.Remove, Key: []byte(k)} }

// A repetition is answered as the first copy was, and nothing happens, whatever was in between.
func TestRepetitionsTakeHoldOnce(t *testing.T) {
	for name, between := range map[string]func(*bench){
		"nothing": func(*bench) {}, "crash": (*bench).reopen,
		"shutdown": func(b *bench) { b.shut(); b.open() },
		"trimming": func(b *bench) { b.trimAll(); b.reopen() },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if b.cfg.MaxPending = 3; name == "trimming" {
				b.cfg.TrimAbove = 1
			}
			b.open()
			b.set("a", "1", time.Hour)
			b.requestFour()
			b.remove("b")
			b.set("a", "2", time.Hour)
			between(b)
			appends := b.disk.Appends()
			b.requestFour()
			b.Equal(map[string]string{"a": "2", "c": "x"}, b.keys(false))
			if name != "trimming" {
				b.Equal(appends, b.disk.Appends())
			}
			_, err := b.request(3, removeOp("a"))
			b.ErrorContains(err, otherRequest)
			_, err = b.request(5, removeOp("c"))
			b.NoError(err)
		})
	}
}

// requestFour makes four requests, of all kinds of answers.
func (b *bench) requestFour() {
	c, err := b.request(1, removeOp("a"))
	b.NoError(err)
	b.Equal([]bool{true}, c.Took)
	b.Equal([]string{"1"}, c.Values)
	c, err = b.request(2, removeOp("a"))
	b.NoError(err)
	b.Equal([]bool{false}, c.Took)
	c, err = b.request(3, b.setOp("b", "x"), removeOp("none"), b.setOp("c", "x"))
	b.NoError(err)
	b.Equal([]bool{true, false, true}, c.Took)
	_, err = b.request(4, b.setOp("d", ""), b.setOp("e", ""))
	b.ErrorIs(err, core.ErrFull)
}

func (b *bench) reopen() {
	b.crash()
	b.open()
}

// trimAll writes until all that the log has now was trimmed.
func (b *bench) trimAll() {
	number := b.number()
	for i := 0; ; i++ {
		b.set("trims", fmt.Sprint(i), 50*time.Hour)
		b.p.mu.Lock()
		begin := b.p.core.Head.Begin
		b.p.mu.Unlock()
		if begin > number {
			break
		}
	}
	b.remove("trims")
}

// A caller that is idle for five minutes, by the times of frames, is forgotten, also in the
// log.
func TestCallersAreForgotten(t *testing.T) {
	b := newBench(t)
	b.open()
	_, err := b.request(1, b.setOp("a", ""))
	b.NoError(err)
	b.mock.Add(state.Remember - 1)
	c, err := b.request(1, b.setOp("a", ""))
	b.NoError(err)
	b.True(c.Took[0])
	_, err = b.requestOf(8, 1, b.setOp("b", ""))
	b.NoError(err)
	b.Equal(2, b.answers())
	b.mock.Add(1)
	b.remove("a")
	b.Equal(1, b.answers())
	b.remove("b")
	_, err = b.request(1, removeOp("a"))
	b.ErrorIs(err, core.ErrOld)
	next := uint64(b.mock.Now().UnixNano())
	c, err = b.request(next, removeOp("a"))
	b.NoError(err)
	b.False(c.Took[0])
	b.reopen() // all are in the log
	b.Equal(3, b.answers())
	c, err = b.request(next, removeOp("a"))
	b.NoError(err)
	b.False(c.Took[0])
	b.mock.Add(state.Remember)
	b.cfg.TrimAbove = 1 // from now on: the owner before could forget them, and trim the log then
	b.reopen()          // the clock of the owner before may have been behind
	b.Equal(3, b.answers())
	b.mock.Add(state.Remember)
	b.set("c", "", time.Hour)
	b.remove("c")
	b.Zero(b.answers())
	b.trimAll()
	b.Zero(b.p.Stats().LiveBytes)
}

// A request whose answer was lost is committed once, also if the clock of the next owner is far ahead.
func TestRequestsOfAnOwnerWhoseClockIsBehind(t *testing.T) {
	b := newBench(t)
	b.open()
	_, err := b.request(1, b.setOp("a", ""))
	b.NoError(err)
	b.crash()
	b.mock.Add(time.Hour) // in truth, no time has passed
	b.open()
	b.remove("a")
	_, err = b.request(1, b.setOp("a", ""))
	b.NoError(err)
	b.Empty(b.keys(false))
}

// Two copies of a request in one frame are answered alike.
func TestCopiesInOneFrame(t *testing.T) {
	inBubble(t, func(b *bench) {
		hold, held := b.openHeld()
		go b.set("a", "1", time.Hour)
		<-held
		type result struct {
			*core.Call
			error
		}
		results := make(chan result)
		const copies = 5
		ask := func(ops ...core.Op) {
			c, err := b.request(1, ops...)
			results <- result{c, err}
		}
		for range copies - 1 {
			go ask(removeOp("a"))
		}
		synctest.Wait()
		go ask(removeOp("a"), removeOp("b"))
		synctest.Wait()
		hold <- true
		taken := 0
		for range copies {
			r := <-results
			if len(r.Ops) == 2 {
				b.ErrorContains(r.error, otherRequest)
				continue
			}
			b.NoError(r.error)
			b.Equal([]string{"1"}, r.Values)
			b.True(r.Took[0])
			taken++
		}
		b.Equal(copies-1, taken)
		b.shut()
	})
}

// answers is how many answers are remembered.
func (b *bench) answers() (n int) {
	b.p.mu.Lock()
	defer b.p.mu.Unlock()
	for home := range b.p.core.Head.Number + 1 {
		n += len(b.p.core.State.AnswersOf(home))
	}
	return n
}
