package limits

import (
	"context"
	"errors"
	"fmt"
	"maps"
)

// Keeper keeps limits. Its methods may be called concurrently.
type Keeper interface {
	// Change replaces the limit of a scope by what f returns of it, and returns that. When it returns without an error,
	// the change is durable, and holds soon wherever the limit does.
	Change(ctx context.Context, s Scope, f func(Limit) (Limit, error)) (Limit, error)
	// Close ends what goes on in the background.
	Close()
}

// All are limits by scope. None of them is zero.
type All map[Scope]Limit

// most limits how many limits there are.
const most = 1000

// ErrMost is the error for a limit beyond those that there may be.
var ErrMost = fmt.Errorf("there are %d limits, and may not be more", most)

// with returns the limits after a change. It does not change all.
func (all All) with(s Scope, f func(Limit) (Limit, error)) (All, Limit, error) {
	l, err := f(all[s])
	if err == nil {
		err = l.Check()
	}
	if err != nil {
		return nil, l, err
	}
	after := maps.Clone(all)
	if after == nil {
		after = make(All)
	}
	if delete(after, s); !l.IsZero() {
		after[s] = l
	}
	if len(after) > most && len(after) > len(all) {
		return nil, l, ErrMost
	}
	return after, l, nil
}

// ErrUnkept is the error of a change that may not be durable, or not have happened.
var ErrUnkept = errors.New("the limit was not kept")

// errUnreadable is the error for limits that this program did not write.
var errUnreadable = errors.New("the limits can't be read")
