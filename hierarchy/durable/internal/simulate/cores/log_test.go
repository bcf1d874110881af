package cores

import "bytes"

// log is the log, with what arrives late.
type log struct {
	first uint64 // the number before that of the first message
	all   [][]byte
	room
	late    []late
	batches map[string]*batch // by the bytes of a frame
}

// late is an append that arrives after some steps.
type late struct {
	steps int
	last  uint64
	data  []byte
}

func (l *log) end() uint64 { return l.first + uint64(len(l.all)) }

// get returns a message, or nil.
func (l *log) get(number uint64) []byte {
	if number <= l.first || number > l.end() {
		return nil
	}
	return l.all[number-l.first-1]
}

// append appends a message if the log ends at last, and has room. It reports whether it did.
func (w *world) append(last uint64, data []byte) bool {
	if last != w.log.end() || w.log.isFull(len(data)) {
		return false
	}
	w.log.add(bytes.Clone(data))
	w.model.apply(w.log.batches[string(data)], last+1)
	return true
}

// arrive lets late appends arrive.
func (w *world) arrive() {
	waiting := w.log.late[:0]
	for _, a := range w.log.late {
		if a.steps--; a.steps > 0 {
			waiting = append(waiting, a)
		} else if w.append(a.last, a.data) {
			w.Add("a late append arrives as frame %d", a.last+1)
		}
	}
	w.log.late = waiting
}

// overhead is the number of bytes that a message takes in addition to those of its frame.
const overhead = 160

// room has what the messages of a log take.
type room struct {
	ends    []int64 // by message: how many bytes the log has taken since its beginning
	deleted int64   // how many of these were deleted
	most    int64   // how many it may take at once, or 0
}

func (l *log) add(data []byte) {
	l.all = append(l.all, data)
	l.ends = append(l.ends, l.since(0)+l.deleted+int64(len(data))+overhead)
}

// since returns how many bytes the messages from a number on take.
func (l *log) since(number uint64) int64 {
	before := l.deleted
	if number > l.first+1 {
		before = l.ends[number-l.first-2]
	}
	if len(l.ends) == 0 {
		return 0
	}
	return l.ends[len(l.ends)-1] - before
}

// isFull reports whether the log has no room for a frame.
func (l *log) isFull(size int) bool { return l.most > 0 && l.since(0)+int64(size)+overhead > l.most }

// deleteBefore deletes the messages before a number.
func (l *log) deleteBefore(number uint64) {
	if number <= l.first+1 {
		return
	}
	n := number - 1 - l.first
	l.deleted = l.ends[n-1]
	l.all, l.ends, l.first = l.all[n:], l.ends[n:], number-1
}
