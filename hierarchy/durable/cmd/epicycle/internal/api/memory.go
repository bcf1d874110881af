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

// small is the memory of a request for which a part of all memory is kept: a quarter of it can't be taken by larger
// requests. It is enough for the body of a PUT with the largest value, as text and decoded.
const small = 128 << 10

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
	most := s.all.most
	if s.taken+n > small {
		most -= most / 4
	}
	for {
		before := s.all.taken.Load()
		if before+int64(n) > most {
			return false
		}
		if s.all.taken.CompareAndSwap(before, before+int64(n)) {
			s.taken += n
			return true
		}
	}
}

func (s *share) free() {
	s.all.taken.Add(int64(-s.taken))
	s.taken = 0
}
