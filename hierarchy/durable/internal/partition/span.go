package partition

// span is the frames of a log, by size.
type span struct {
	begin uint64   // the begin that the last frame has
	sizes []uint32 // of the frames from begin on, and 0 for a message that is none
	total int64    // their sum
	loose int64    // bytes before begin that were not deleted yet
	full  bool     // there seems to be no room for the frame that is under way
}

// appended counts the frame with that number.
func (s *span) appended(number uint64, size int) {
	if s.begin == 0 {
		s.begin = number
	}
	for s.begin+uint64(len(s.sizes)) < number { // a stranger's message
		s.sizes = append(s.sizes, 0)
	}
	s.sizes = append(s.sizes, uint32(size+messageOverhead))
	s.total += int64(size + messageOverhead)
	s.full = false
}

// advance notes that the log may begin at begin.
func (s *span) advance(begin uint64) {
	if begin <= s.begin {
		return
	}
	n := begin - s.begin
	for _, size := range s.sizes[:n] {
		s.total -= int64(size)
		s.loose += int64(size)
	}
	s.sizes, s.begin = s.sizes[n:], begin
}
