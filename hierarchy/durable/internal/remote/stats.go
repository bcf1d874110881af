package remote

import (
	"errors"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Stats are figures of the calls of a Client.
type Stats struct {
	Answered   hierarchy.Histogram // from the call to the answer
	Unanswered uint64              // that were given up
}

// stats counts calls.
type stats struct {
	mu  sync.Mutex
	now Stats
}

// ended counts a call. Errors are answers if an owner may have sent them.
func (s *stats) ended(begun time.Time, err error) {
	took := time.Since(begun)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || isAnswer(err) {
		s.now.Answered.Add(took)
	} else {
		s.now.Unanswered++
	}
}

// isAnswer reports whether an error of a call came from an owner.
func isAnswer(err error) bool {
	return errors.Is(err, partition.ErrTooLarge) || errors.Is(err, partition.ErrDamaged) || errors.Is(err, partition.ErrFull)
}

// Stats returns the figures of the calls that have ended.
func (c *Client) Stats() (st Stats) {
	c.stats.mu.Lock()
	defer c.stats.mu.Unlock()
	st.Unanswered = c.stats.now.Unanswered
	st.Answered.Merge(c.stats.now.Answered) // a copy
	return st
}
