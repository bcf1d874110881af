// Package member makes this process one of the processes that share a name. It keeps a lease by renewing a record in a
// table, learns which other members live, deletes the leases of dead members, and claims partitions and gives them
// away. It knows nothing of timers or logs.
//
// The table has two kinds of records:
//
//	member.<id>          a living member: version, text, lease, counter, whether it is leaving, new, or off, what
//	                     it can't take
//	claim.<partition>    who may own a partition: version, member (0: nobody)
//
// The claim determines who may own a partition. The lease of the holder determines whether it owns the partition now.
// Both are changed by compare-and-set only.
//
// # The lease
//
// A member holds its lease until 0.75 Lease after it sent the renewal that was acknowledged last. If a response is
// lost, the same renewal is sent again, and the lease counts from its first copy, since that may be the one that was
// written. Others wait 1.25 Lease after they saw the last renewal, then delete the record if it still has the revision
// that they saw. Their clocks may run at different rates, as long as 0.75 Lease of one is less than 1.25 Lease of
// another. The others restart the wait whenever their own renewals did not get through. Otherwise all members would
// delete each other after a long outage of the table.
//
// A record that was deleted never comes back, as each Join has an id of its own. So a member whose record was deleted
// is dead for good, and its claims are free. If this member has never seen a record of a claim's holder, the holder may
// be alive all the same. So this member tries to delete the holder's record at revision 0. The table refuses that if
// the record exists.
//
// # Who should own what
//
// Each member computes the same plan from the same records (View.Plan). The files: member.go joins and stops, lease.go
// renews and resigns, claim.go takes claims and hands them off, watch.go follows the table and deletes the leases of
// dead members, view.go has what is known, plan.go decides who should own what, clock.go compares clocks, observe.go
// follows the table without a record in it, record.go encodes records.
package member

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// The errors of a Member. They are wrapped.
var (
	// errVersion means that the table was written by a program of a later version.
	errVersion = errors.New("the table of members has another version")
	// ErrLost means that the lease is lost for good, or that Resign or Stop was called.
	ErrLost = errors.New("the lease is lost")
	// ErrNotFree means that the claim belongs to a member that has a lease, or to a member about which nothing is known
	// yet.
	ErrNotFree = errors.New("the claim is not free")
	// ErrNotMine means that this member does not have the claim, or does not have it any more.
	ErrNotMine = errors.New("the claim is another's")
)

// Member is this process from Join until its lease is lost, or Stop. Its methods may be called concurrently.
type Member struct {
	cfg   Config
	id    ID
	lease lease

	ctx        context.Context // for the background goroutines; ends when the lease is lost for good
	cancel     context.CancelFunc
	background sync.WaitGroup
	changed    wait.Signal

	mine  []atomic.Bool   // by partition: whether this member has the claim and no Give is in progress
	turns []chan struct{} // by partition, of capacity 1: full while a Claim or Give is in progress

	hurry wait.Signal   // set when a renewal is needed now
	acked wait.Signal   // set when a renewal was acknowledged, for watch
	wake  wait.Signal   // set when something has changed, for bury
	ready chan struct{} // closed once the table was read
	left  chan struct{} // closed when the other members can see that this member is leaving

	observes bool // this is the Member of an Observer, and has no record
	quiet    bool // the last watch of an Observer was silent. Only the goroutine of watch uses it

	mu    sync.Mutex
	known known // guarded by mu

	timing timing
}

// Join writes a record for this process and keeps it renewed. It returns when it holds the lease and has read the
// table. ctx is for Join alone. If ctx ends meanwhile, a record may be left behind, which the other members delete when
// its lease has run out.
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

// newMember returns a Member without starting anything.
func newMember(cfg Config) *Member {
	m := &Member{
		cfg: cfg, id: cfg.ID,
		changed: wait.NewSignal(),
		mine:    make([]atomic.Bool, cfg.Partitions), turns: make([]chan struct{}, cfg.Partitions),
		hurry: wait.NewSignal(), acked: wait.NewSignal(), wake: wait.NewSignal(),
		ready: make(chan struct{}), left: make(chan struct{}),
		known: newKnown(cfg.Partitions), timing: timing{known: make(chan struct{})},
	}
	for p := range m.turns {
		m.turns[p] = make(chan struct{}, 1)
	}
	m.lease.record = memberRecord{Version: version, Text: cfg.Text, Lease: cfg.Lease,
		Unable: slices.Sorted(slices.Values(cfg.Unable))}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// begin joins once, under one ID.
func begin(ctx context.Context, cfg Config) (*Member, error) {
	m := newMember(cfg)
	m.background.Go(m.watch)
	if err := m.join(ctx); err != nil {
		m.Stop()
		return nil, err
	}
	m.background.Go(m.renew)
	m.background.Go(m.bury)
	return m, nil
}

// awaitTable waits until the table was read. If there are claims of a later version, it returns an error.
func (m *Member) awaitTable(ctx context.Context) error {
	select {
	case <-m.ready:
	case <-ctx.Done():
		return fmt.Errorf("reading the table of members: %w", ctx.Err())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known.foreign
}

// join reads the table, then writes the record.
func (m *Member) join(ctx context.Context) error {
	if err := m.awaitTable(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	sent := m.cfg.Boot()
	if m.known.settled() {
		m.lease.newUntil = sent + newTime(m.cfg.Lease)
	}
	m.mu.Unlock()
	if err := m.renewal(ctx); err != nil {
		return err
	}
	// Another member may have deleted a copy of the first record. Once the table has forgotten the deletion, a later
	// copy can be written, although the others consider this member dead.
	if m.cfg.Boot()-sent > min(held(m.cfg.Lease), forgotten/2) {
		return fmt.Errorf("%w: the first record took too long", ErrLost)
	}
	return nil
}

// forgotten is the least time for which the table remembers a deletion.
const forgotten = time.Hour

// ID returns the ID of this member.
func (m *Member) ID() ID { return m.id }

// Holds reports whether this member holds its lease now. It only reads a clock. The result can be false and then true
// again: the lease can run out while the table can't be reached, and a later renewal may still succeed. Once Lost is
// closed, the result is false for ever.
func (m *Member) Holds() bool {
	until := m.lease.until.Load() // read before the clock, since this goroutine may be suspended in between
	return until != 0 && m.cfg.Boot() < time.Duration(until)
}

// Owns reports whether this member holds both its lease and the claim of partition p now. It is as cheap as Holds. The
// result is false during a Give of p, and while the result of such a Give is unknown.
func (m *Member) Owns(p int) bool { return m.mine[p].Load() && m.Holds() }

// Lost returns a channel that is closed when the lease is lost for good: another member has deleted the record, or
// Resign or Stop was called. To go on, call Join again.
func (m *Member) Lost() <-chan struct{} { return m.ctx.Done() }

// Changed returns a channel, always the same one, that receives a value when View may have changed. Renewals do not
// change the View. There should be one reader.
func (m *Member) Changed() <-chan struct{} { return m.changed }

// View returns what this member knows now. The result must not be changed.
func (m *Member) View() *View {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known.view(m.id)
}

// lose ends the lease for good. The lock must be held.
func (m *Member) lose() {
	m.lease.until.Store(0)
	if m.ctx.Err() != nil {
		return
	}
	m.known.remove(m.id, m.cfg.Boot())
	m.cancel()
	m.changed.Set()
}

// Stop makes Owns and Holds false, ends the background goroutines, and waits for them. The record stays, so other
// members have to wait until the lease has run out.
func (m *Member) Stop() {
	m.mu.Lock()
	m.lose()
	m.mu.Unlock()
	m.background.Wait()
}
