package api

import (
	"net/http"
	"sync/atomic"
)

// maxMemory is how much memory the bodies of all requests may take together, about.
const maxMemory = 256 << 20

// memory counts the memory that the bodies of all requests take.
type memory struct {
	most  int64 // immutable
	taken atomic.Int64
}

// share is the part of a request.
type share struct {
	all   *memory
	taken int
}

// errBusy is the answer to a request that does not fit besides the others. It does not wait: if requests that have a
// part of what they need waited for each other, none would go on.
var errBusy = func() *Problem {
	p := problem(http.StatusTooManyRequests, "the server is busy with large requests: try again")
	p.retryAfter = retryTime
	return p
}()

// take takes n bytes more. It reports whether there are so many.
func (s *share) take(n int) bool {
	if s.all.taken.Add(int64(n)) > s.all.most {
		s.all.taken.Add(int64(-n))
		return false
	}
	s.taken += n
	return true
}

func (s *share) free() {
	s.all.taken.Add(int64(-s.taken))
	s.taken = 0
}
