// Package context has every exported name of the standard library's package context. The
// deadlines of its contexts are on a timing wheel. To use it, change an import and nothing
// else:
//
//	import "github.com/epicycle-go/epicycle/compat/context"
//
// Types, variables and functions are those of package context, so a context of one package is
// one of the other. The exceptions are WithTimeout, WithDeadline, WithTimeoutCause and
// WithDeadlineCause. Their contexts are on the wheel of the process that compat/time uses, and
// take two allocations and half the time. WithValue is the one of package context, except that
// children below it need no goroutine where those of its parent need none.
//
// Done, Err and Cause of these contexts are right when a parent's cancel has returned. A
// child that package context made below one follows a cancelled grandparent in a goroutine, a
// moment later. The text of fmt.Sprint(ctx) is another one.
//
// In a testing/synctest bubble everything is package context's.
package context

//go:generate go run ../internal/forward
