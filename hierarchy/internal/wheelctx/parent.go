package wheelctx

import (
	"context"
	"reflect"
	"sync/atomic"
	"weak"
)

// timeoutContextKey is the key whose value is the nearest timeoutContext.
type timeoutContextKey struct{}

// link returns the links of c, which are made in the first call. From then on the parent ends c when it ends.
func (c *timeoutContext) link() *links {
	if l := c.links.Load(); l != nil {
		return l
	}
	l := &links{}
	l.registration.child = c
	if n := l.inspect(c.parent); l.register(n, c) && !c.links.CompareAndSwap(nil, l) {
		l.unregister() // c has ended meanwhile, or another goroutine has made the links
	}
	return c.links.Load()
}

// inspect sets the fields that describe how a context depends on its parent. It returns the notifier of the parent,
// or nil.
func (l *links) inspect(parent context.Context) *notifier {
	if p, ok := parent.(*timeoutContext); ok {
		l.follow(p)
		return nil
	}
	done := parent.Done()
	if done == nil {
		return nil
	}
	id := parentID(done)
	entry := notifierEntryOf(id)
	if n := entry.find(id); n != nil {
		l.asked, l.above, l.needsWatch = n.parent, n.above, true
		return n
	}
	l.asked = parent
	if parent.Err() != nil {
		return nil // contexts that have ended may share a Done, so it does not identify them
	}
	p, _ := parent.Value(timeoutContextKey{}).(*timeoutContext)
	if p != nil && p.Done() == done {
		l.follow(p)
		return nil
	}
	l.above = p
	cancelCtx := parentCancelCtx(parent, done)
	if cancelCtx == nil {
		return nil
	}
	l.asked, l.needsWatch = cancelCtx, true
	return entry.count(id, cancelCtx, p)
}

// follow sets the fields for a context whose parent is p, possibly with values.
func (l *links) follow(p *timeoutContext) {
	above := p.link()
	l.teller, l.asked, l.above, l.needsWatch = p, above.asked, above.above, above.needsWatch
}

// parentCancelCtx returns the context to which package context attaches children of parent.
// It is parent itself, or an ancestor with the same Done. It is nil if parent is of a
// foreign type with a Done of its own.
func parentCancelCtx(parent context.Context, done <-chan struct{}) context.Context {
	if p, ok := parent.Value(cancelCtxKey).(context.Context); ok && p.Done() == done {
		return p
	}
	return nil
}

// teller ends contexts when their parent ends.
type teller interface {
	// forget makes the teller no longer end the context that e stands for. It may be called twice.
	forget(e *listener)
}

// forget makes c, a parent of its own type, a teller.
func (c *timeoutContext) forget(e *listener) { c.link().remove(e) }

// expectsChildren reports whether parent is of a foreign type with a method AfterFunc. Package context calls the method
// when it makes a child, so such a parent may rely on it, for instance to count its children.
func expectsChildren(parent context.Context) bool {
	if _, ours := parent.(*timeoutContext); ours {
		return false
	}
	_, ok := parent.(interface{ AfterFunc(func()) func() bool })
	return ok
}

// stopAfterFunc is an AfterFunc that cancels one context.
type stopAfterFunc func() bool

func (stop stopAfterFunc) forget(*listener) { stop() }

// register makes c end when the parent ends, by n if n is not nil. It reports false if the parent has ended, and with
// it c.
func (l *links) register(n *notifier, c *timeoutContext) bool {
	if p, ok := l.teller.(*timeoutContext); ok {
		if above := p.link(); !above.add(&l.registration, &above.contexts) {
			var later callLater
			c.endWithParent(above.ended.Load(), &later)
			later.call()
			return false
		}
	} else if l.asked != nil && (n == nil || !n.join(l)) {
		l.teller = stopAfterFunc(context.AfterFunc(l.asked, c.cancel))
	}
	return true
}

// unregister undoes register. It may be called twice.
func (l *links) unregister() {
	if l.teller != nil {
		l.teller.forget(&l.registration)
	}
}

// notifier is one AfterFunc of a parent, shared by all contexts below this parent. An AfterFunc for each context would
// cost as much as its timer.
//
// A parent gets a notifier when several contexts in a row are made below it. That is typical of the context of a
// service, not of the context of a request. The notifier stays, even without listeners, until the parent ends, the
// parent is collected, or another parent needs the entry. The parent keeps its notifier alive, not vice versa.
type notifier struct {
	listeners
	closed        bool            // guarded by mu; no more contexts can join
	parent        context.Context // a context of package context without values; immutable, like all fields below
	above         *timeoutContext // the nearest timeoutContext above the parent, or nil
	listed        *listedNotifier // the reference to this notifier in its entry
	stopAfterFunc func() bool
}

// listedNotifier refers to the notifier of one parent, without keeping either of them alive.
type listedNotifier struct {
	id       uintptr // parentID of the parent
	notifier weak.Pointer[notifier]
}

// notifierEntry has the notifier of one parent.
type notifierEntry struct {
	listed atomic.Pointer[listedNotifier]
	last   atomic.Uintptr // parentID of the parent of the last context that was made
	inRow  atomic.Int32   // number of contexts in a row that were made below that parent
	_      [40]byte       // each entry has a cache line of its own
}

// notifierAfter is the number of contexts in a row that are made below a parent before the parent gets a notifier.
const notifierAfter = 3

var notifiers [16]notifierEntry

// parentID identifies a parent by its Done, without keeping the parent alive. A later parent may get the same number.
// Then it only gets its notifier a little sooner.
func parentID(done <-chan struct{}) uintptr { return reflect.ValueOf(done).Pointer() }

func notifierEntryOf(id uintptr) *notifierEntry { return &notifiers[id/64%uintptr(len(notifiers))] }

// find returns the notifier of the parent with that id, or nil.
func (e *notifierEntry) find(id uintptr) *notifier {
	if l := e.listed.Load(); l != nil && l.id == id {
		return l.notifier.Value() // nil if the id is from an earlier parent
	}
	return nil
}

// count counts a context made below parent. It returns a new notifier after several contexts in a row below the same
// parent, and nil before.
func (e *notifierEntry) count(id uintptr, parent context.Context, above *timeoutContext) *notifier {
	if e.last.Load() != id {
		e.last.Store(id)
		if e.inRow.Load() != 1 { // a store would cost more than this load
			e.inRow.Store(1)
		}
		return nil
	}
	if e.inRow.Add(1) <= notifierAfter {
		return nil
	}
	n := &notifier{parent: parent, above: above}
	n.listed = &listedNotifier{id, weak.Make(n)}
	n.stopAfterFunc = context.AfterFunc(parent, n.end)
	if old := e.listed.Swap(n.listed); old != nil {
		if n := old.notifier.Value(); n != nil {
			n.retire()
		}
	}
	if parent.Err() != nil {
		e.listed.CompareAndSwap(n.listed, nil) // end may have been called before n was in its entry
	}
	return n
}

// join makes n the teller of l. It reports false if n accepts no more listeners.
func (n *notifier) join(l *links) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	l.teller = n // before n can end the context
	l.registration.push(&n.contexts)
	return true
}

// end is called when the parent ends.
func (n *notifier) end() {
	n.close()
	notifierEntryOf(n.listed.id).listed.CompareAndSwap(n.listed, nil)
	var later callLater
	for l := n.take(&n.contexts); l != nil; l = n.take(&n.contexts) {
		l.child.cancelTree(&later)
	}
	later.call()
}

// retire lets no more contexts join n. The AfterFunc is stopped when n has no listeners any more.
func (n *notifier) retire() {
	if n.close() {
		n.stopAfterFunc()
	}
}

// close lets no more contexts join n. It reports whether n has no listeners.
func (n *notifier) close() (empty bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	return n.contexts == nil
}

// forget removes e. If n is closed and has no other listeners, forget stops the AfterFunc.
func (n *notifier) forget(e *listener) {
	n.mu.Lock()
	e.unlink()
	last := n.closed && n.contexts == nil
	n.mu.Unlock()
	if last {
		n.stopAfterFunc()
	}
}
