package durable

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Token names an attempt of a timer, in all processes that share the timers. Nobody can guess it. Its text can be
// stored.
type Token struct {
	name    uint64
	attempt uint32
}

// String returns the token as hexadecimal digits, a hyphen and the number of the attempt.
func (t Token) String() string { return fmt.Sprintf("%016x-%d", t.name, t.attempt) }

// Attempt returns the number of the attempt.
func (t Token) Attempt() int { return int(t.attempt) }

// ParseToken is the inverse of String. For any other text it returns ErrArgument.
func ParseToken(text string) (Token, error) {
	name, number, _ := strings.Cut(text, "-")
	var t Token
	var err error
	if t.name, err = strconv.ParseUint(name, 16, 64); err == nil {
		var n uint64
		n, err = strconv.ParseUint(number, 10, 32)
		t.attempt = uint32(n)
	}
	if err != nil || t.String() != text || t.name == 0 || t.attempt == 0 || t.attempt > state.MaxCount {
		return Token{}, fmt.Errorf("%w: %.60q is no token", core.ErrArgument, text)
	}
	return t, nil
}

// EndAttempt ends an attempt of the timer of k, as Attempt.End does, in whichever process its partition is. It reports
// whether the attempt was still in progress. The errors are those of other operations on k.
func (w *Keyed[K, V]) EndAttempt(ctx context.Context, k K, t Token, err error) (bool, error) {
	a, e := w.do(ctx, operation[K, V]{kind: frame.End, key: k, end: core.End(t.name, t.attempt, err)})
	return a.took, e
}

// HandOver makes the other processes take the partitions of this one over, and waits until they have, at most for a
// lease, or for half of the time that ctx has left if that is less. Until another process is ready to take a partition,
// the partition's timers fire here. The partitions for which there is no other process stay. Shutdown must follow. In
// between all calls work, so attempts that were left to others can be ended. With Dir, and for a caller, HandOver does
// nothing.
func (w *Keyed[K, V]) HandOver(ctx context.Context) { w.owners.HandOver(ctx) }
