package core

// messageOverhead is about the number of bytes that the log needs for a message in addition to those of the frame.
const messageOverhead = 160

// span records the frames of a log by their sizes.
type span struct {
	first uint64   // where the log begins, according to the last frame
	sizes []uint32 // the sizes of the messages from begin on; 0 for a message that is not a frame
	Total int64    // the sum of sizes
	Loose int64    // the number of bytes before begin that were not deleted yet
	Full  bool     // the log seems to have no room for the frame in flight
}

// appended adds the size of the frame with that number.
func (s *span) appended(number uint64, size int) {
	if s.first == 0 {
		s.first = number
	}
	for s.first+uint64(len(s.sizes)) < number { // for a stranger's message
		s.sizes = append(s.sizes, 0)
	}
	s.sizes = append(s.sizes, uint32(size+messageOverhead))
	s.Total += int64(size + messageOverhead)
	s.Full = false
}

// advance records that the log may begin at begin.
func (s *span) advance(begin uint64) {
	if begin <= s.first {
		return
	}
	n := begin - s.first
	for _, size := range s.sizes[:n] {
		s.Total -= int64(size)
		s.Loose += int64(size)
	}
	s.sizes, s.first = s.sizes[n:], begin
}

// IsOurs reports whether an owner has written the message with that number.
func (s *span) IsOurs(number uint64) bool {
	return number >= s.first && number-s.first < uint64(len(s.sizes)) && s.sizes[number-s.first] > 0
}

// ShouldDelete reports whether the frames before Begins are worth deleting.
func (o *Owner) ShouldDelete() bool { return o.Loose >= o.share(deleteBytes) }

// Begins returns where the log begins, and Loose.
func (s *span) Begins() (begin uint64, loose int64) { return s.first, s.Loose }

// Deleted records that so many of the bytes before Begins were deleted. A follower may have read the log from the
// beginning again meanwhile.
func (s *span) Deleted(bytes int64) { s.Loose = max(0, s.Loose-bytes) }

// HasRoom reports whether a frame of that size fits into the log before anything is deleted.
func (o *Owner) HasRoom(size int) bool {
	return o.limits.Log == 0 || o.Loose == 0 || o.Total+o.Loose+int64(size+messageOverhead) <= o.limits.Log
}
