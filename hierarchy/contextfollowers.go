package hierarchy

import "sync"

// followers is a list of functions to call when something ends.
type followers struct {
	mu    sync.Mutex
	first *follower // guarded by mu, like the links of all followers
	over  bool      // guarded by mu; nothing is added any more
}

// follower is an element of a list of followers.
type follower struct {
	next, prev *follower
	told       func() // immutable once in the list
}

// add reports whether f was added: it is not once the list is over.
func (s *followers) add(f *follower) bool {
	s.mu.Lock()
	added := !s.over
	if added {
		f.next = s.first
		if f.next != nil {
			f.next.prev = f
		}
		s.first = f
	}
	s.mu.Unlock()
	return added
}

// remove reports whether f was in the list.
func (s *followers) remove(f *follower) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unlink(f)
}

// unlink is remove with mu held.
func (s *followers) unlink(f *follower) bool {
	switch {
	case f.prev != nil:
		f.prev.next = f.next
	case s.first == f:
		s.first = f.next
	default:
		return false
	}
	if f.next != nil {
		f.next.prev = f.prev
	}
	f.next, f.prev = nil, nil
	return true
}

// tell removes all followers and calls their functions. over must be set. It removes them
// one at a time, so that remove never waits for all of them.
func (s *followers) tell() {
	for {
		s.mu.Lock()
		f := s.first
		if f == nil {
			s.mu.Unlock()
			return
		}
		s.unlink(f)
		s.mu.Unlock()
		f.told()
	}
}
