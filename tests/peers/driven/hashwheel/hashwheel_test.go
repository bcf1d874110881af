package hashwheel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server/thw"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wheel is what thw.HashWheel and HashWheel have in common.
type wheel interface {
	Add(seq uint64, expires int64) error
	Remove(seq uint64, expires int64) error
	Update(seq uint64, oldExpires, newExpires int64) error
	ExpireTasks(callback func(seq uint64, expires int64) bool)
	GetNextExpiration(before int64) int64
	Count() uint64
	Encode(highSeq uint64) []byte
	Decode(b []byte) (uint64, error)
}

var (
	_ wheel = (*thw.HashWheel)(nil)
	_ wheel = (*HashWheel)(nil)
)

// program runs the same random calls on both, and on a map of what is pending.
type program struct {
	t            *testing.T
	random       *rand.Rand
	theirs, ours wheel
	pending      map[uint64]int64
	last         uint64 // sequence that was added
}

func TestLikeTHW(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			p := &program{
				t: t, random: rand.New(rand.NewPCG(seed, 1)), pending: map[uint64]int64{},
				theirs: thw.NewHashWheel(), ours: NewHashWheel(),
			}
			for range 200 {
				p.step()
				p.check()
			}
			time.Sleep(48 * time.Hour)
			p.expire(func(uint64) bool { return true })
			require.Zero(t, p.ours.Count())
		})
	}
}

// expiry is mostly in the next minutes. It may have passed, or be several turns of thw's
// wheel away.
func (p *program) expiry() int64 {
	now := time.Now().UnixNano()
	switch p.random.IntN(8) {
	case 0:
		return now - p.random.Int64N(int64(time.Minute))
	case 1:
		return now + p.random.Int64N(int64(24*time.Hour))
	case 2:
		return now + int64(p.random.IntN(4))*int64(time.Second)
	}
	return now + p.random.Int64N(int64(5*time.Minute))
}

func (p *program) both(call func(w wheel) error) {
	theirs := call(p.theirs)
	require.Equal(p.t, theirs, call(p.ours))
}

func (p *program) step() {
	switch seq, expires := p.some(), p.expiry(); p.random.IntN(8) {
	case 0, 1, 2:
		p.last++
		p.pending[p.last] = expires
		p.both(func(w wheel) error { return w.Add(p.last, expires) })
	case 3:
		old := p.known(seq)
		p.both(func(w wheel) error { return w.Update(seq, old, expires) })
		if p.pending[seq] == old && old != 0 {
			p.pending[seq] = expires
		}
	case 4:
		old := p.known(seq)
		p.both(func(w wheel) error { return w.Remove(seq, old) })
		if p.pending[seq] == old {
			delete(p.pending, seq)
		}
	case 5:
		time.Sleep(time.Duration(p.random.Int64N(int64(time.Minute))))
	case 6:
		p.expire(func(uint64) bool { return true })
	case 7:
		among := p.random.Uint64N(4)
		p.expire(func(seq uint64) bool { return seq%4 != among })
	}
}

// some is a sequence that may be pending.
func (p *program) some() uint64 { return 1 + p.random.Uint64N(p.last+2) }

// known is when the caller believes seq to expire. Sometimes it is wrong by some seconds: it
// takes thw a second to see that.
func (p *program) known(seq uint64) int64 {
	if p.random.IntN(4) == 0 {
		return p.pending[seq] + int64(2+p.random.IntN(100))*int64(time.Second)
	}
	return p.pending[seq]
}

// expire lets both offer what has expired. Ours comes in order.
func (p *program) expire(accept func(seq uint64) bool) {
	var theirs, ours []thw.HashWheelEntry
	p.theirs.ExpireTasks(func(seq uint64, expires int64) bool {
		theirs = append(theirs, thw.HashWheelEntry{Seq: seq, Expires: expires})
		return accept(seq)
	})
	p.ours.ExpireTasks(func(seq uint64, expires int64) bool {
		ours = append(ours, thw.HashWheelEntry{Seq: seq, Expires: expires})
		return accept(seq)
	})
	require.ElementsMatch(p.t, theirs, ours)
	require.True(p.t, slices.IsSortedFunc(ours, func(x, y thw.HashWheelEntry) int { return int(x.Expires - y.Expires) }))
	for _, e := range ours {
		require.Equal(p.t, p.pending[e.Seq], e.Expires)
		if accept(e.Seq) {
			delete(p.pending, e.Seq)
		}
	}
}

// check compares what both say of what is pending. thw's next expiry may be that of an entry
// that was removed.
func (p *program) check() {
	require.EqualValues(p.t, len(p.pending), p.ours.Count())
	require.Equal(p.t, p.theirs.Count(), p.ours.Count())
	next := int64(math.MaxInt64)
	for _, expires := range p.pending {
		next = min(next, expires)
	}
	require.Equal(p.t, next, p.ours.GetNextExpiration(math.MaxInt64))
	require.LessOrEqual(p.t, p.theirs.GetNextExpiration(math.MaxInt64), next)
	require.EqualValues(p.t, math.MaxInt64, p.ours.GetNextExpiration(next))
}
