package partition

// span records the frames of a log by their sizes.
type span struct {
	begin uint64   // where the log begins, according to the last frame
	sizes []uint32 // the sizes of the messages from begin on; 0 for a message that is not a frame
	total int64    // the sum of sizes
	loose int64    // the number of bytes before begin that were not deleted yet
	full  bool     // the log seems to have no room for the frame in flight
}

// appended adds the size of the frame with that number.
func (s *span) appended(number uint64, size int) {
	if s.begin == 0 {
		s.begin = number
	}
	for s.begin+uint64(len(s.sizes)) < number { // for a stranger's message
		s.sizes = append(s.sizes, 0)
	}
	s.sizes = append(s.sizes, uint32(size+messageOverhead))
	s.total += int64(size + messageOverhead)
	s.full = false
}

// advance records that the log may begin at begin.
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
