package wheelctx

import (
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
)

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
type callLater []*links

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
