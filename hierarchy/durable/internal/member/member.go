package member

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The errors of a Member. They are wrapped.
var (
	// errVersion: the table was written by a program that this one does not understand.
	errVersion = errors.New("the table of members has another version")
	// ErrLost: the lease is lost for good, or Resign or Stop was called.
	ErrLost = errors.New("the lease is lost")
	// ErrNotFree: the claim belongs to a member that has a lease, or of which nothing is known yet.
	ErrNotFree = errors.New("the claim is not free")
	// ErrNotMine: the claim is not, or is no longer, this member's.
	ErrNotMine = errors.New("the claim is another's")
)

// Member is one member: this process from Join until its lease is lost, or Stop. Its methods may be
// called concurrently.
type Member struct {
	cfg   Config
	id    ID
	lease lease

	ctx        context.Context // of all that goes on in the background
	cancel     context.CancelFunc
	background sync.WaitGroup
	lost       chan struct{}
	changed    chan struct{}

	mine  []atomic.Bool   // by partition: the claim is this member's, and not being given away
	turns []chan struct{} // by partition, of capacity 1: full while a Claim or Give is under way

	hurry chan struct{} // of capacity 1: a renewal is needed now
	acked chan struct{} // of capacity 1: a renewal was acknowledged, for watch
	wake  chan struct{} // of capacity 1: something has changed, for bury
	ready chan struct{} // closed when all that the table has is known
	left  chan struct{} // closed when the others can see that this member is leaving

	mu    sync.Mutex
	known known // guarded by mu

	timing timing
}

// Join writes a record for this process and keeps it renewed. It returns when it holds the lease and
// knows what the table has. ctx is for Join alone. If it ends meanwhile, a record may be left, which
// the others delete when its lease has run out.
func Join(ctx context.Context, cfg Config) (*Member, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	for {
		m, err := begin(ctx, cfg)
		if !errors.Is(err, ErrLost) {
			return m, err
		}
		cfg.ID = newID()
	}
}

// begin joins under one ID.
func begin(ctx context.Context, cfg Config) (*Member, error) {
	m := &Member{
		cfg: cfg, id: cfg.ID,
		lost: make(chan struct{}), changed: make(chan struct{}, 1),
		mine: make([]atomic.Bool, cfg.Partitions), turns: make([]chan struct{}, cfg.Partitions),
		hurry: make(chan struct{}, 1), acked: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		ready: make(chan struct{}), left: make(chan struct{}),
		known: newKnown(cfg.Partitions), timing: timing{known: make(chan struct{})},
	}
	for p := range m.turns {
		m.turns[p] = make(chan struct{}, 1)
	}
	m.lease.unable = slices.Sorted(slices.Values(cfg.Unable))
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.background.Go(m.watch)
	if err := m.join(ctx); err != nil {
		m.Stop()
		return nil, err
	}
	m.background.Go(m.renew)
	m.background.Go(m.bury)
	return m, nil
}

// join reads the table, then writes the record.
func (m *Member) join(ctx context.Context) error {
	select {
	case <-m.ready:
	case <-ctx.Done():
		return fmt.Errorf("reading the table of members: %w", ctx.Err())
	}
	m.mu.Lock()
	err := m.known.foreign
	sent := m.cfg.Boot()
	if m.known.settled() {
		m.lease.newUntil = sent + newTime(m.cfg.Lease)
	}
	m.mu.Unlock()
	if err != nil {
		return err
	}
	if err := m.renewal(ctx); err != nil {
		return err
	}
	// Another may have deleted a copy of the first record. If the table has forgotten that, a later
	// copy takes hold, and others take this member for dead.
	if m.cfg.Boot()-sent > min(held(m.cfg.Lease), forgotten/2) {
		return fmt.Errorf("%w: the first record took too long", ErrLost)
	}
	return nil
}

// forgotten is how long the table remembers a deletion, at least.
const forgotten = time.Hour

// ID returns the name of this member.
func (m *Member) ID() ID { return m.id }

// Holds tells whether this member holds its lease now. It costs reading a clock. It can be false and
// then true again: while the table can't be reached, the time runs out, and a later renewal may still
// succeed. After Lost it is false for ever.
func (m *Member) Holds() bool {
	until := m.lease.until.Load() // before the clock is read: this goroutine may stand still in between
	return until != 0 && m.cfg.Boot() < time.Duration(until)
}

// Owns tells whether this member holds its lease and the claim of partition p now. It is as cheap as
// Holds. It is false while a Give of p is under way or in doubt.
func (m *Member) Owns(p int) bool { return m.mine[p].Load() && m.Holds() }

// Lost returns a channel that is closed when the lease is lost for good: another has deleted the
// record, or Resign or Stop was called. Whoever wants to go on joins anew.
func (m *Member) Lost() <-chan struct{} { return m.lost }

// Changed returns a channel, always the same, that has a value after View may have changed. A
// renewal changes nothing. There should be one reader.
func (m *Member) Changed() <-chan struct{} { return m.changed }

// View returns what this member knows now. Do not change it.
func (m *Member) View() *View {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known.view(m.id)
}

// lose ends the lease for good. The lock must be held.
func (m *Member) lose() {
	m.lease.until.Store(0)
	if m.lease.gone {
		return
	}
	m.lease.gone = true
	m.known.remove(m.id, m.cfg.Boot())
	close(m.lost)
	m.cancel()
	signal(m.changed)
}

// Stop ends all that goes on in the background, and waits for it. The record stays: others have to
// wait until the lease has run out. Owns and Holds are false from its beginning.
func (m *Member) Stop() {
	m.mu.Lock()
	m.lose()
	m.mu.Unlock()
	m.background.Wait()
}

// signal puts a value into a channel of capacity 1.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
