package wheelctx

import "context"

// outcome returns the outcome of c, or nil if c has not ended.
func (c *timeoutContext) outcome() *Outcome {
	if l := c.links.Load(); l != nil {
		return l.ended.Load()
	}
	return nil
}

// settle ends c if a context above it has ended that does not end c itself. It returns the outcome of c, or nil if c
// has not ended.
func (c *timeoutContext) settle() *Outcome {
	if l := c.links.Load(); l != nil {
		if o := l.ended.Load(); o != nil || !l.askedEnded() {
			return o
		}
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
	if o := c.outcome(); o != nil {
		return o
	}
	if o := c.parentOutcome(later); o != nil {
		c.endWithParent(o, later)
	}
	return c.outcome()
}

// parentOutcome returns the outcome of the parent, or nil if it has not ended.
func (c *timeoutContext) parentOutcome(later *callLater) *Outcome {
	if p, ok := c.parent.(*timeoutContext); ok {
		return p.settleTree(later)
	}
	l := c.links.Load()
	if l == nil {
		above, _ := c.parent.Value(timeoutContextKey{}).(*timeoutContext)
		return outcomeBelow(above, c.parent, later)
	}
	if p, ok := l.teller.(*timeoutContext); ok {
		return p.settleTree(later)
	}
	return outcomeBelow(l.above, l.asked, later)
}

// outcomeBelow returns the outcome of asked, or nil if asked has not ended or is nil. The nearest context of this type
// above asked is above.
func outcomeBelow(above *timeoutContext, asked context.Context, later *callLater) *Outcome {
	if above != nil && above.settleTree(later) != nil {
		above.links.Load().awaitEnd() // asked may be a context that above has not ended yet
	}
	if asked == nil {
		return nil
	}
	if err := asked.Err(); err != nil && asked.Done() != nil {
		return NewOutcome(err, context.Cause(asked))
	}
	return nil
}

// askedEnded reports whether a context of another type above has ended. Those of this type need not be asked, since
// they end those below in the call that ends them. So the time does not depend on how many timeouts are nested.
func (l *links) askedEnded() bool {
	for l.asked != nil {
		if l.asked.Err() != nil {
			return true
		}
		if l.above == nil {
			return false
		}
		l = l.above.link()
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
	case c.stopTimer():
		first = c.endTree(canceled, later)
	default:
		first = c.endTree(c.timerOutcome(), later)
	}
	if !first {
		c.links.Load().awaitEnd()
	}
}

// awaitEnd waits until Done of a context that has ended is closed, and the contexts below it have ended. It does not
// wait for the functions of users, since its caller may be one of them.
func (l *links) awaitEnd() {
	if l == &l.ended.Load().links {
		return // many contexts share l
	}
	if l.hasDoneCtx.Load() && l.endDoneCtx != nil {
		l.endDoneCtx() // waits if another goroutine is ending doneCtx
	}
	l.ending.Lock()
	defer l.ending.Unlock()
}

// awaitDone waits until the Done of a context that has ended is closed.
func (l *links) awaitDone() {
	if l.hasDoneCtx.Load() && l.doneCtx != closed {
		<-l.doneCtx.Done()
	}
}

// endWithParent is endTree with the outcome of the parent. It also stops the timer.
func (c *timeoutContext) endWithParent(o *Outcome, later *callLater) bool {
	first := c.endTree(o, later)
	if first {
		c.stopTimer()
	}
	return first
}

// endTree ends c and the contexts below it. It reports false if c had ended before.
func (c *timeoutContext) endTree(o *Outcome, later *callLater) bool {
	return c.links.Load() == nil && c.links.CompareAndSwap(nil, &o.links) || c.links.Load().end(o, later)
}

// end is endTree for a context with links.
//
// The outcome is set before Done is closed, so that Err is never nil after that. Done is
// closed before the contexts below end, because package context then calls Err, which waits
// for Done.
func (l *links) end(o *Outcome, later *callLater) bool {
	l.mu.Lock()
	if l.ended.Load() != nil {
		l.mu.Unlock()
		return false
	}
	if l.functions != nil {
		*later = append(*later, l)
	}
	if end := l.endDoneCtx; l.contexts == nil {
		l.ended.Store(o)
		l.mu.Unlock()
		if end != nil {
			end()
		}
	} else {
		l.endBelow(o, later)
	}
	l.unregister()
	return true
}

// endBelow is the part of end for a context with contexts below it. Other goroutines must be able to wait until all
// these contexts have ended. mu must be held, and is unlocked.
func (l *links) endBelow(o *Outcome, later *callLater) {
	l.ending.Lock() // does not wait: other goroutines lock it only after the context has ended
	defer l.ending.Unlock()
	l.ended.Store(o)
	end := l.endDoneCtx
	l.mu.Unlock()
	if end != nil {
		end()
	}
	for below := l.take(&l.contexts); below != nil; below = l.take(&l.contexts) {
		switch {
		case below.child == nil:
			below.call()
		case !below.child.endWithParent(o, later):
			below.child.links.Load().awaitEnd()
		}
	}
}

// add adds e to list, which is one of the lists of l. It reports false if the context has ended.
func (l *links) add(e *listener, list **listener) bool {
	l.mu.Lock()
	added := l.ended.Load() == nil
	if added {
		e.push(list)
	}
	l.mu.Unlock()
	return added
}
