package hierarchy

import "sync"

// listeners are two lists of what must be done when something ends. First the contexts below
// it end. Then the functions of users are called, which may use any of these contexts.
type listeners struct {
	mu        sync.Mutex
	contexts  *listener // guarded by mu, like functions and the links of all listeners
	functions *listener
}

// listener is an element of one of the lists.
type listener struct {
	next *listener
	link **listener // what points to this listener; nil: it is in no list

	child *timeoutContext // a context to end; nil: there is call. Immutable once in a list
	call  func()          // likewise
}

// push adds l to list. mu must be held.
func (l *listener) push(list **listener) {
	l.next, l.link = *list, list
	if l.next != nil {
		l.next.link = &l.next
	}
	*list = l
}

// remove reports whether l was in a list.
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

// take removes the first element of list, which is one of ls, and returns it, or nil. Taking
// one at a time means that remove never waits for a long list.
func (ls *listeners) take(list **listener) *listener {
	ls.mu.Lock()
	l := *list
	if l != nil {
		l.unlink()
	}
	ls.mu.Unlock()
	return l
}

// callLater are contexts that have ended, and whose functions have not been called yet.
type callLater []*timeoutContext

// call calls the functions. If one panics or exits the goroutine, the others are called
// first.
func (later callLater) call() {
	if len(later) > 0 {
		callAll(later.next())
	}
}

// next returns a function that calls one of the functions, or returns false if none is left.
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
