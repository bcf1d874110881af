package filelog

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Get returns message number.
func (l *Log) Get(ctx context.Context, number uint64) (data []byte, err error) {
	for data, err = range l.Read(ctx, number, number) {
	}
	return data, err
}

// Read returns an iterator over messages.
func (l *Log) Read(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for from <= to {
			data, err := l.some(ctx, from, to)
			for _, message := range data {
				if !yield(message, nil) {
					return
				}
				from++
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// some returns some of the messages from from to to, at least one, or an error. The file system may hang, so it is used
// in another goroutine.
func (l *Log) some(ctx context.Context, from, to uint64) (data [][]byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	type result struct {
		data [][]byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := l.read(from, to)
		done <- result{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// part is a part of a segment.
type part struct {
	segment
	next     uint64 // the base of the segment after this one, or the number after the last message
	from, to uint64
}

func (l *Log) read(from, to uint64) ([][]byte, error) {
	p, err := l.part(from, to)
	if err != nil {
		return nil, err
	}
	defer l.reading.Done()
	var data [][]byte
	if p.indexed {
		data, err = p.read(l)
	} else {
		data, err = p.readFirst(l)
	}
	if err != nil && l.trimmed(from) {
		err = absent(from)
	}
	return data, err
}

func absent(number uint64) error { return fmt.Errorf("%w: message %d", storage.ErrAbsent, number) }

func (l *Log) trimmed(number uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return number < l.first
}

// part returns the part of the segment with message from that has messages up to to. Until reading is done, Close waits.
func (l *Log) part(from, to uint64) (p part, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return p, errClosed
	}
	if from < l.first || from > l.last {
		return p, absent(from)
	}
	at, _ := slices.BinarySearchFunc(l.segments, from+1, func(s *segment, n uint64) int {
		if s.base < n {
			return -1
		}
		return 1
	})
	p = part{segment: *l.segments[at-1], next: l.last + 1}
	if at < len(l.segments) {
		p.next = l.segments[at].base
	}
	p.from, p.to = from, min(to, p.next-1)
	l.reading.Add(1)
	return p, nil
}

// read reads messages of a segment that is indexed.
func (p *part) read(l *Log) (messages [][]byte, err error) {
	begin, end := p.span(p.from, p.to)
	for end-begin > l.sizes.chunk && p.to > p.from {
		p.to = p.from + (p.to-p.from)/2
		begin, end = p.span(p.from, p.to)
	}
	f, err := l.fs.Open(l.path(&p.segment))
	if err != nil {
		return nil, unreadable(segmentName(p.place), err)
	}
	defer f.Close()
	b := make([]byte, end-begin)
	err = readAt(f, b, begin)
	for err != nil && p.to > p.from { // only a part may be unreadable
		p.to = p.from + (p.to-p.from)/2
		_, end = p.span(p.from, p.to)
		b = b[:end-begin]
		err = readAt(f, b, begin)
	}
	if err != nil {
		return nil, unreadable(segmentName(p.place), err)
	}
	return p.decode(b, begin)
}

// decode returns the messages from p.from to p.to. b has the segment from offset begin on.
func (p *part) decode(b []byte, begin int64) (messages [][]byte, err error) {
	for n := p.from; n <= p.to; n++ {
		at := int64(p.offsets[n-p.base])
		message, ok := decodeRecord(b[at-begin:], p.incarnation, n)
		if !ok {
			return messages, damaged("%s: message %d at %d is not what was written", segmentName(p.place), n, at)
		}
		messages = append(messages, message)
	}
	return messages, nil
}

// readFirst reads a segment for the first time, whole, and indexes it.
func (p *part) readFirst(l *Log) (messages [][]byte, err error) {
	b, err := l.readSegment(&p.segment)
	if err != nil {
		return nil, unreadable(segmentName(p.place), err)
	}
	p.index(b, p.next)
	if p.end() == p.next {
		l.indexed(&p.segment)
		return p.decode(b, 0)
	}
	if p.to = min(p.to, p.end()-1); p.from <= p.to {
		messages, _ = p.decode(b, 0)
	}
	return messages, damaged("%s: there is no message %d at %d", segmentName(p.place), p.end(), p.used)
}

// indexed keeps where the records of a segment are.
func (l *Log) indexed(s *segment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, there := range l.segments {
		if there.place == s.place {
			there.used, there.offsets, there.indexed = s.used, s.offsets, true
		}
	}
}
