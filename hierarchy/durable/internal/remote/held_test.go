package remote

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// pair is an owner and a client with clocks of their own, on both sides of a network. Time passes on both.
type pair struct {
	*bench
	c             *Client
	net           *network
	owner, caller *clock.Mock
}

func newPair(t *testing.T) *pair {
	p := &pair{bench: newBench(t), owner: clock.NewMock(), caller: clock.NewMock()}
	p.caller.Add(17 * time.Hour)
	p.part.Clock, p.cfg.Clock = p.owner, p.owner
	p.own()
	far, net := p.between()
	far.Clock, p.net = p.caller, net
	c, err := New(far)
	p.NoError(err)
	t.Cleanup(c.Close)
	c.quiet = time.Minute
	p.c = c
	return p
}

// pass has time pass.
func (p *pair) pass(d time.Duration) {
	p.owner.Add(d)
	p.caller.Add(d)
}

// holdNext has the network hold the next question with operations for as long.
func (p *pair) holdNext(d time.Duration) {
	p.net.setFate(func(answer bool) time.Duration {
		if !answer && p.c.lanes[0].all() > 0 && d > 0 {
			p.pass(d)
			d = 0
		}
		return 0
	})
}

// left is how long it is until a timer is due, by the owner's clock.
func (p *pair) left(k string) time.Duration {
	_, in, ok, err := p.c.Get(p.t.Context(), 0, []byte(k))
	p.NoError(err)
	p.True(ok)
	return in
}

// A duration counts from the call, also while the network holds the message.
func TestDurationsCountWhileAMessageIsHeld(t *testing.T) {
	p := newPair(t)
	for i, idle := range []time.Duration{0, time.Second, young, 2 * young, time.Hour, 0} {
		p.pass(idle)
		p.holdNext(10 * time.Minute)
		k := fmt.Sprint(i)
		p.do(p.c, setOp(k, ""))
		p.InDelta(50*time.Minute, p.left(k), float64(idle/driftShare))
		p.GreaterOrEqual(p.left(k), 50*time.Minute)
		p.holdNext(time.Minute)
		p.do(p.c, moveOp(k, 2*time.Hour))
		p.Equal(119*time.Minute, p.left(k))
	}
}

// A moment by the owner's clock is never before the one that is meant, however long answers take, however clocks
// drift, and whenever the computer of the client sleeps. It is after it by no more than the answer took, and the drift.
func TestOffset(t *testing.T) {
	uses := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 33))
		var o offset
		var real, slept, trip time.Duration
		ahead, rate, epoch := time.Duration(r.Int64N(1<<50)), r.Float64()*0.001-0.0005, uint64(1)
		caller := func() reading { return reading{real - slept, time.Unix(1e9, 0).Add(real)} }
		owner := func() time.Duration { return ahead + real + time.Duration(float64(real)*rate) }
		sleep := func() {
			if r.IntN(10) == 0 {
				d := 2*stoodStill + time.Duration(r.Int64N(1<<42))
				real, slept = real+d, slept+d
			}
		}
		for range 100 {
			real += time.Duration(r.Int64N(int64(3 * time.Second)))
			sleep()
			if r.IntN(10) == 0 {
				epoch, ahead = epoch+1, time.Duration(r.Int64N(1<<50))
			}
			if r.IntN(2) == 0 {
				sent := caller()
				real += time.Duration(r.Int64N(1<<30) >> r.IntN(20))
				sleep()
				at := partition.Moment{Epoch: epoch, Time: int64(owner())}
				sleep()
				real += time.Duration(r.Int64N(1<<30) >> r.IntN(20))
				if o.learn(at, sent, caller()); o.sent == sent {
					trip = caller().elapsed - sent.elapsed
				}
			}
			if now := caller(); o.holds(now) && o.epoch == epoch {
				late := time.Duration(o.moment(now.elapsed).Time) - owner()
				require.GreaterOrEqual(t, late, time.Duration(0), seed)
				require.LessOrEqual(t, late, trip+(now.elapsed-o.sent.elapsed)*3/2/driftShare+1, seed)
				uses++
			}
		}
	}
	require.Greater(t, uses, 10_000)
}
