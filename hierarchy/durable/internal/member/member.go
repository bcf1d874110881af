package member

import (
	"context"
	"errors"
)

// The errors of a Member. They are wrapped.
var (
	// ErrVersion: the table was written by a program that this one does not understand.
	ErrVersion = errors.New("the table of members has another version")
	// ErrLost: the lease is lost for good, or Resign or Stop was called.
	ErrLost = errors.New("the lease is lost")
	// ErrNotFree: the claim belongs to a member that has a lease, or of which nothing is known yet.
	ErrNotFree = errors.New("the claim is not free")
	// ErrNotMine: the claim is not, or is no longer, this member's.
	ErrNotMine = errors.New("the claim is another's")
)

// Member is one member: this process from Join until its lease is lost, or Stop. Its methods may be
// called concurrently.
type Member struct{}

// Join writes a record for this process and keeps it renewed. It returns when it holds the lease and
// knows what the table has. ctx is for Join alone. If it ends meanwhile, a record may be left, which
// the others delete when its lease has run out.
func Join(ctx context.Context, cfg Config) (*Member, error) { panic("not yet") }

// ID returns the name of this member.
func (m *Member) ID() ID { panic("not yet") }

// Holds tells whether this member holds its lease now. It costs reading a clock. It can be false and
// then true again: while the table can't be reached, the time runs out, and a later renewal may still
// succeed. After Lost it is false for ever.
func (m *Member) Holds() bool { panic("not yet") }

// Owns tells whether this member holds its lease and the claim of partition p now. It is as cheap as
// Holds. It is false while a Give of p is under way or in doubt.
func (m *Member) Owns(p int) bool { panic("not yet") }

// Lost returns a channel that is closed when the lease is lost for good: another has deleted the
// record, or Resign or Stop was called. Whoever wants to go on joins anew.
func (m *Member) Lost() <-chan struct{} { panic("not yet") }

// Changed returns a channel, always the same, that has a value after View may have changed. A
// renewal changes nothing. There should be one reader.
func (m *Member) Changed() <-chan struct{} { panic("not yet") }

// View returns what this member knows now. Do not change it.
func (m *Member) View() *View { panic("not yet") }

// Claim takes the claim of partition p for this member, if it is free. It returns nil if the claim
// is this member's. The error is ErrNotFree if another has it, and ErrLost. Any other error, which
// comes when ctx is done, leaves it in doubt: the claim may become this member's later, which View
// tells. Claim also ends the doubt about a Give, if p still is this member's: then it stays so.
func (m *Member) Claim(ctx context.Context, p int) error { panic("not yet") }

// Give hands this member's claim of partition p to another, or to nobody. From its beginning, Owns
// is false. It returns nil if the claim was given, and ErrNotMine if it was not this member's. Any
// other error, which comes when ctx is done, leaves it in doubt: Give again, to whom you like, or
// Claim.
func (m *Member) Give(ctx context.Context, p int, to ID) error { panic("not yet") }

// Leave says that this member is leaving: others should take its claims. It keeps its lease. It
// returns when the others can see it.
func (m *Member) Leave(ctx context.Context) error { panic("not yet") }

// Resign deletes the record: what this member still claims is free at once. Owns and Holds are false
// from its beginning. If it fails, the lease runs out. Stop is needed still.
func (m *Member) Resign(ctx context.Context) error { panic("not yet") }

// Stop ends all that goes on in the background, and waits for it. The record stays: others have to
// wait until the lease has run out. Owns and Holds are false from its beginning.
func (m *Member) Stop() { panic("not yet") }
