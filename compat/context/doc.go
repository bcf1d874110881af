// Package context has every exported name of the standard library's package context. The
// deadlines of its contexts are on a timing wheel. To use it, change an import and nothing
// else:
//
//	import "github.com/epicycle-go/epicycle/compat/context"
//
// Types, variables and functions are those of package context, so a context of one package is also a context of the
// other. The exceptions are WithTimeout, WithDeadline, WithTimeoutCause and WithDeadlineCause. Their contexts are on
// the wheel of the process that compat/time uses. Making one takes two allocations and less than half the time. WithValue does
// what WithValue of package context does. But if children of its parent need no goroutine, children of the value
// context need none either.
//
// When the cancel of a parent has returned, Done, Err and Cause of these contexts already show it. If a grandparent is
// cancelled, a child that package context made below one of these contexts follows a moment later, in a goroutine. The
// text of fmt.Sprint(ctx) differs from package context's.
//
// In a testing/synctest bubble, all functions call package context.
package context

//go:generate go run ../internal/forward
