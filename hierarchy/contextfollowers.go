package hierarchy

import "sync"

// followers are those who are to be told when something ends: a list, in no order.
type followers struct {
	mu    sync.Mutex
	first *follower // guarded by mu, as the links of all in the list
	over  bool      // guarded by mu; it has ended: nobody is added any more
}

// follower is a place in a list of followers.
type follower struct {
	next, prev *follower
	told       func() // immutable once in the list
}

// add is false if all is over.
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

// remove is true if f was in the list.
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

// tell takes all out and tells them. over must be set. It takes them one by one, so
// that who wants to leave the list need not wait for all of them.
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
