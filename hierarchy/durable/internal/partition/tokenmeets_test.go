package partition

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// An end by token that is queued before the attempt is left, and decided after it, is right. So is one in the same frame.
func TestTokensWhileTheAttemptIsLeft(t *testing.T) {
	for _, before := range []bool{true, false} {
		b := newBench(t)
		b.announcing()
		b.open()
		a, _ := b.due("k", time.Hour)
		name, number := a.Token(time.Hour)
		hold, held := b.holdNext()
		go b.set("other", "v", time.Hour) // the next frame
		<-held
		other := core.Op{Kind: frame.End, Key: []byte("k"), Ending: core.End(name, number+1, nil)}
		c := &core.Call{Ops: []core.Op{other, {Kind: frame.End, Key: []byte("k"), Ending: core.End(name, number, nil)}}}
		leave := func() {
			b.p.mu.Lock()
			b.p.firer.leaveToNext(b.p.core.WithToken(true)[0])
			b.p.mu.Unlock()
		}
		if !before {
			leave()
		}
		started := b.start(c)
		if before {
			leave()
		}
		hold <- true
		b.NoError(started.Wait(t.Context()))
		b.Equal([]bool{false, true}, c.Took)
		b.Equal(map[string]string{"other": "v"}, b.keys(false))
		b.Zero(b.p.core.Numbers())
		b.shut()
	}
}

// An attempt that its token has ended with a failure is not left after that, neither in the same frame nor in the next.
func TestAttemptsThatFailAreNotLeft(t *testing.T) {
	bad := errors.New("bad")
	for _, c := range []struct {
		result error
		wait   time.Duration
		next   uint32
	}{{bad, time.Second, 2}, {&core.Later{Err: bad, In: time.Minute}, time.Minute, 2}, {&core.Postponed{Err: bad, In: time.Minute}, time.Minute, 1}} {
		for _, same := range []bool{true, false} {
			t.Run(fmt.Sprintf("%T, in the same frame: %v", c.result, same), func(t *testing.T) {
				b := newBench(t)
				b.announcing()
				b.open()
				a, end := b.due("k", time.Hour)
				name, number := a.Token(time.Hour)
				hold, held := b.holdNext()
				if same {
					go b.set("other", "v", 10*time.Hour)
					<-held
				}
				call := &core.Call{Ops: []core.Op{{Kind: frame.End, Key: []byte("k"), Ending: core.End(name, number, c.result)}}}
				callStarted := b.start(call)
				if !same {
					<-held
				}
				b.p.mu.Lock()
				b.p.firer.leaveToNext(b.p.core.WithToken(true)[0])
				b.p.mu.Unlock()
				hold <- true
				b.NoError(callStarted.Wait(t.Context()))
				b.True(call.Took[0])
				b.shut()
				b.open()
				b.False(end(nil))
				b.took()
				b.mock.Add(c.wait - 1)
				b.Empty(b.took())
				b.mock.Add(1)
				b.Equal(c.next, b.last().Attempt)
			})
		}
	}
}

// However attempts, ends, tokens and handovers meet, each timer ends once, and nothing keeps a partition from ending.
func TestTokensMeetEnds(t *testing.T) {
	b := newBench(t)
	b.cfg.Clock = realClock()
	b.announcing()
	announced := make(chan core.Firing, 1000)
	b.cfg.Announce = func(f core.Firing) error { announced <- f; return nil }
	b.open()
	const n = 200
	for i := range n {
		b.set(fmt.Sprint(i), "v", 0)
	}
	took := make(chan string, 3*n)
	done := make(chan bool)
	for range n {
		go func() {
			defer func() { done <- true }()
			f := <-announced
			a, ok := b.p.Begin([]byte(f.Key), f.ID)
			if !ok {
				return
			}
			name, number := a.Token(time.Hour)
			ended := make(chan bool)
			go func() {
				c := &core.Call{Ops: []core.Op{{Kind: frame.End, Key: []byte(f.Key), Ending: core.End(name, number, nil)}}}
				if b.p.Do(t.Context(), c) == nil && c.Took[0] {
					took <- f.Key
				}
				ended <- true
			}()
			if rand.IntN(2) == 0 {
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
			}
			if ok, err := a.End(t.Context(), nil); err == nil && ok {
				took <- f.Key
			}
			<-ended
		}()
	}
	time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
	b.NoError(b.p.Shutdown(t.Context()))
	for len(announced) > 0 {
		<-announced
	}
	close(announced) // those that wait for one find nothing to begin
	for range n {
		<-done
	}
	b.cfg.Announce = func(core.Firing) error { return nil }
	b.open()
	ended := len(took)
	keys := make(map[string]bool)
	for range ended {
		keys[<-took] = true
	}
	b.Len(keys, ended, "each has ended once")
	b.Len(b.keys(false), n-ended)
	b.shut()
}

// End during the frame in which a token ends the attempt is too late. If that frame is refused, it is not.
func TestEndWhileTheTokenEnds(t *testing.T) {
	type result struct {
		took bool
		err  error
	}
	for _, late := range []error{nil, errHandler, &core.Final{Err: errHandler}} {
		for _, refused := range []bool{false, true} {
			t.Run(fmt.Sprintf("%T, refused: %v", late, refused), func(t *testing.T) {
				b := newBench(t)
				b.announcing()
				b.cfg.OnDead = func(core.Firing, error) { b.Fail("no timer dies", refused) }
				if refused {
					b.cfg.OnDead = nil
				}
				b.open()
				a, _ := b.due("k", time.Hour)
				name, number := a.Token(time.Hour)
				hold, held := b.holdNext()
				c := &core.Call{Ops: []core.Op{{Kind: frame.End, Key: []byte("k"), Ending: core.End(name, number, &core.Postponed{Err: errHandler, In: 0})}}}
				if refused {
					c.Ops = append(c.Ops, core.Op{Kind: frame.Set, Key: []byte("large"), Value: make([]byte, 100<<10)})
				}
				started := b.start(c)
				<-held
				ended := make(chan result)
				go func() {
					took, err := a.End(t.Context(), late)
					ended <- result{took, err}
				}()
				b.Eventually(b.p.writer.queue.any, time.Minute, time.Millisecond)
				if refused {
					b.log.Max = 64 << 10
				}
				hold <- true
				if err := started.Wait(t.Context()); refused {
					b.ErrorIs(err, core.ErrTooLarge)
					b.Equal(result{true, nil}, <-ended)
				} else {
					b.NoError(err)
					b.True(c.Took[0])
					b.Equal(result{false, nil}, <-ended)
					b.mock.Add(0)
					again := b.begin()
					b.EqualValues(1, again.Attempt)
					b.True(b.ends(&again, time.Hour)(nil))
					b.Empty(b.keys(false))
				}
				b.Zero(b.p.core.Numbers())
				b.shut()
			})
		}
	}
}

// An attempt that was left lasts for the time that Token was called with last, whether the log has the first time by
// then or not, unless its token has ended it.
func TestTokenOfAnAttemptThatWasLeft(t *testing.T) {
	for _, when := range []string{"before", "in flight", "after", "ended"} {
		t.Run(when, func(t *testing.T) {
			b := newBench(t)
			b.announcing()
			b.open()
			a, end := b.due("k", time.Minute)
			b.set("other", "v", 0)
			b.mock.Add(time.Second)
			other := b.begin()
			hold, held := b.holdNext()
			if when == "before" {
				go b.set("another", "v", 10*time.Hour)
				<-held
			}
			shut := make(chan error)
			go func() { shut <- b.p.Shutdown(t.Context()) }()
			<-a.Context().Done()
			switch when {
			case "in flight":
				<-held
			case "after", "ended":
				<-held
				hold <- true
				b.False(b.do(core.Op{Kind: frame.End, Key: []byte("k"), Ending: core.End(1, 1, nil)})) // in the next frame
			}
			if when == "ended" {
				b.True(end(errHandler))
			}
			a.Token(time.Hour)
			if when != "after" && when != "ended" {
				hold <- true
			}
			_, err := other.End(t.Context(), nil)
			b.NoError(err)
			b.NoError(<-shut)
			b.open()
			b.took()
			if when == "ended" {
				b.False(end(nil))
				b.mock.Add(time.Second)
				b.EqualValues(2, b.last().Attempt)
				return
			}
			b.mock.Add(time.Hour - 1)
			b.Empty(b.took())
			b.mock.Add(1)
			b.EqualValues(2, b.last().Attempt)
		})
	}
}
