package simulate

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// In some histories timers are announced, and who takes one ends it later: in the process that has announced it, or by a
// token, in any process and whoever owns the partition by then. Some never end it.

// announced is an attempt that was announced.
type announced struct {
	id     frame.ID
	number uint32
}

// announce is Config.Announce. A lock is held during the call.
func (p *worker) announce(f core.Firing) error {
	p.announced.Store(announced{f.ID, f.Attempt}, f.Key)
	go p.take(f)
	return nil
}

// over records that an attempt has begun, or was withdrawn.
func (p *worker) over(f core.Firing) { p.announced.Delete(announced{f.ID, f.Attempt}) }

// checkAnnounced checks that all that was announced has begun, or was withdrawn.
func (w *world) checkAnnounced() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.living {
		for _, key := range p.announced.Range {
			w.wrong("announced: %q has not begun, and was not withdrawn", key)
		}
	}
}

// take begins the attempt of a timer that was announced, and ends it.
func (p *worker) take(f core.Firing) {
	if <-p.opened; p.cluster == nil {
		return
	}
	w := p.w
	if !w.healed.Load() {
		time.Sleep(p.chance.upTo(time.Second))
		p.await(0)
	}
	owner, _ := p.cluster.Here(f.Partition)
	if owner == nil {
		return // the next owner announces it
	}
	t, ok := owner.Begin([]byte(f.Key), f.ID)
	if !ok {
		return
	}
	p.over(t.Firing)
	noted := p.begun(t.Context(), t.Firing)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	switch {
	case strings.HasPrefix(f.Key, "timer") && p.chance.intN(3) == 0:
		p.endByToken(ctx, noted, t)
		return
	case strings.HasPrefix(f.Key, "token"):
		p.endSurely(ctx, noted, t)
		return
	case strings.HasPrefix(f.Key, "slow"):
		p.beSlow()
	}
	p.end(ctx, noted, t)
}

// result returns how an attempt ends.
func (p *worker) result() error {
	if !p.w.healed.Load() && p.chance.intN(4) == 0 {
		return errHandler
	}
	return nil
}

// end ends an attempt in its process.
func (p *worker) end(ctx context.Context, f *firing, t partition.Taken) {
	result, at := p.result(), p.clock.Elapsed()
	took, err := t.End(ctx, result)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	f.done, f.failed, f.ended = took && err == nil, result != nil, at
	if f.done && !f.failed {
		f.logged = time.Now()
	}
}

// token gives an attempt a token for a time.
func (p *worker) token(t partition.Taken, long time.Duration) (name uint64, attempt uint32) {
	until := p.clock.Elapsed() + long
	name, attempt = t.Token(long)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.tokens[name] = until
	return name, attempt
}

// endByToken ends an attempt by its token, or never. Its process ends it when its time is over, if it still can.
func (p *worker) endByToken(ctx context.Context, f *firing, t partition.Taken) {
	w, long := p.w, 2*time.Second+p.chance.upTo(4*time.Second)
	name, attempt := p.token(t, long)
	over := time.Now().Add(long)
	time.Sleep(p.chance.upTo(4 * time.Second))
	if result := p.result(); p.chance.intN(4) > 0 && !w.ended() {
		op := core.Op{Kind: frame.End, Ending: core.End(name, attempt, result)}
		took, err := do(ctx, w.any(p.chance.branch()).api(), f.Key, op)
		if took && err == nil && result == nil {
			w.mu.Lock()
			f.logged = time.Now()
			w.mu.Unlock()
		}
	}
	time.Sleep(time.Until(over))
	_, _ = t.End(ctx, errHandler)
}

// endSurely ends an attempt by its token, while owners give partitions to each other and nothing fails.
func (p *worker) endSurely(ctx context.Context, f *firing, t partition.Taken) {
	w := p.w
	name, attempt := p.token(t, time.Hour) // longer than an owner may have stood still, whose time the next one does not continue
	if err := context.Cause(t.Context()); err != nil && !errors.Is(err, partition.ErrLeft) {
		return
	}
	select { // the log may not have yet that the attempt was left
	case <-t.Context().Done():
		time.Sleep(p.chance.upTo(10 * time.Millisecond))
	case <-time.After(p.chance.upTo(lease)):
	}
	took, err := false, core.ErrClosed
	for i := 0; i < workers && notCommitted(err); i++ { // the process that is asked may be leaving, too
		took, err = do(ctx, w.any(p.chance.branch()).api(), f.Key, core.Op{Kind: frame.End, Ending: core.End(name, attempt, nil)})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !took {
		w.wrong("token: attempt %d of %q of owner %d is not ended by its token: %v", f.Attempt, f.Key, f.Epoch, err)
	}
	f.logged = time.Now()
}
