package wheelctx

import (
	"context"
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
)

// settle ends c if a context of another type above it has ended. It returns the outcome of c, or nil if c has not ended.
func (c *timeoutContext) settle() *Outcome {
	if o := c.ended.Load(); o != nil || !c.askedEnded() {
		return o
	}
	var later callLater
	o := c.settleTree(&later)
	later.call()
	return o
}

// settleTree ends c if its parent has ended, and returns the outcome of c, or nil if c has not ended. It calls no
// functions. It appends the contexts that end, and that have functions to call, to later. All methods with a parameter
// later do the same. So no function is called before all contexts that end together have ended.
func (c *timeoutContext) settleTree(later *callLater) *Outcome {
	if o := c.ended.Load(); o != nil {
		return o
	}
	o := c.parentOutcome(later)
	if o == nil {
		return nil
	}
	c.endWithParent(o, later)
	return c.ended.Load()
}

// parentOutcome returns the outcome of the parent, or nil if it has not ended.
func (c *timeoutContext) parentOutcome(later *callLater) *Outcome {
	if c.joined != nil {
		return c.joined.settleTree(later)
	}
	if c.above != nil && c.above.settleTree(later) != nil {
		c.above.awaitEnd() // asked may be a context that above has not ended yet
	}
	if c.asked == nil {
		return nil
	}
	if err := c.asked.Err(); err != nil {
		return NewOutcome(err, context.Cause(c.asked))
	}
	return nil
}

// askedEnded reports whether a context of another type above c has ended. Those of this type need not be asked, since
// they end c in the call that ends them. So the time does not depend on how many timeouts are nested.
func (c *timeoutContext) askedEnded() bool {
	for ; c != nil && c.asked != nil; c = c.above {
		if c.asked.Err() != nil {
			return true
		}
	}
	return false
}

// cancelTree ends c because it was cancelled, its timer fired, the wheel stopped, or its parent ended. If the timer can
// still be stopped, the caller is not the wheel, and c was cancelled. When cancelTree returns, the contexts below c
// have ended.
func (c *timeoutContext) cancelTree(later *callLater) {
	first := false
	switch {
	case c.settleTree(later) != nil:
	case c.started.Load() && c.stopTimer():
		first = c.endTree(canceled, later)
	default:
		first = c.endTree(c.timerOutcome(), later)
	}
	if !first {
		c.awaitEnd()
	}
}

// awaitEnd waits until Done of c, which has ended, is closed, and the contexts below c have ended. It does not wait for
// the functions of users, since its caller may be one of them.
func (c *timeoutContext) awaitEnd() {
	if c.hasDoneCtx.Load() && c.endDoneCtx != nil {
		c.endDoneCtx() // waits if another goroutine is ending doneCtx
	}
	c.ending.Lock()
	defer c.ending.Unlock()
}

// awaitDone waits until the Done of c, which has ended, is closed.
func (c *timeoutContext) awaitDone() {
	if c.hasDoneCtx.Load() {
		<-c.doneCtx.Done()
	}
}

// endWithParent is endTree with the outcome of the parent. It also stops the timer.
func (c *timeoutContext) endWithParent(o *Outcome, later *callLater) bool {
	first := c.endTree(o, later)
	if first && c.started.Load() {
		c.stopTimer()
	}
	return first
}

// endTree ends c and the contexts below it. It reports false if c had ended before.
//
// The outcome is set before Done is closed, so that Err is never nil after that. Done is
// closed before the contexts below end, because package context then calls Err, which waits
// for Done.
func (c *timeoutContext) endTree(o *Outcome, later *callLater) bool {
	c.mu.Lock()
	if c.ended.Load() != nil {
		c.mu.Unlock()
		return false
	}
	if c.functions != nil {
		*later = append(*later, c)
	}
	if end := c.endDoneCtx; c.contexts == nil {
		c.ended.Store(o)
		c.mu.Unlock()
		if end != nil {
			end()
		}
	} else {
		c.endBelow(o, later)
	}
	if c.started.Load() {
		c.unregister()
	}
	return true
}

// endBelow is the part of endTree for a c with contexts below it. Other goroutines must be able to wait until all these
// contexts have ended. mu must be held, and is unlocked.
func (c *timeoutContext) endBelow(o *Outcome, later *callLater) {
	c.ending.Lock() // does not wait: other goroutines lock it only after c has ended
	defer c.ending.Unlock()
	c.ended.Store(o)
	end := c.endDoneCtx
	c.mu.Unlock()
	if end != nil {
		end()
	}
	for l := c.take(&c.contexts); l != nil; l = c.take(&c.contexts) {
		switch {
		case l.child == nil:
			l.call()
		case !l.child.endWithParent(o, later):
			l.child.awaitEnd()
		}
	}
}

// add adds l to list, which is one of the lists of c. It reports false if c has ended.
func (c *timeoutContext) add(l *listener, list **listener) bool {
	c.mu.Lock()
	added := c.ended.Load() == nil
	if added {
		l.push(list)
	}
	c.mu.Unlock()
	return added
}

// listeners are two lists of what must be done when a context ends. First the contexts below it end. Then the functions
// of users are called, which may use any of these contexts.
type listeners struct {
	mu        sync.Mutex
	contexts  *listener // guarded by mu, and so are functions and the links of the listeners in both lists
	functions *listener
}

// listener is an element of one of the lists.
type listener struct {
	next *listener
	link **listener // points to the pointer to this listener; nil if it is in no list

	child *timeoutContext // a context to end, or nil if call is set; immutable once in a list
	call  func()          // a function to call, or nil if child is set; immutable once in a list
}

// push adds l to list. mu must be held.
func (l *listener) push(list **listener) {
	l.next, l.link = *list, list
	if l.next != nil {
		l.next.link = &l.next
	}
	*list = l
}

// remove removes l from its list. It reports whether l was in a list.
func (ls *listeners) remove(l *listener) bool {
	ls.mu.Lock()
	removed := l.unlink()
	ls.mu.Unlock()
	return removed
}

// unlink is remove with mu held.
func (l *listener) unlink() bool {
	if l.link == nil {
		return false
	}
	*l.link = l.next
	if l.next != nil {
		l.next.link = l.link
	}
	l.next, l.link = nil, nil
	return true
}

// take removes and returns the first element of list, which is one of the lists of ls, or returns nil. Taking one
// element at a time means that remove never waits for a long list.
func (ls *listeners) take(list **listener) *listener {
	ls.mu.Lock()
	l := *list
	if l != nil {
		l.unlink()
	}
	ls.mu.Unlock()
	return l
}

// callLater holds contexts that have ended, and whose functions have not been called yet.
type callLater []*timeoutContext

// call calls the functions. If a function panics or exits the goroutine, the other functions are called before the
// panic or exit continues.
func (later callLater) call() {
	if len(later) > 0 {
		executor.CallAll(later.next())
	}
}

// next returns a function that calls the next function of a context and returns true. If none is left, it returns
// false.
func (later callLater) next() func() bool {
	return func() bool {
		for ; len(later) > 0; later = later[1:] {
			if l := later[0].take(&later[0].functions); l != nil {
				l.call()
				return true
			}
		}
		return false
	}
}
