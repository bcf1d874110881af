package executor

// workQueue is a first-in-first-out queue in blocks, each of which is freed when it is empty.
// The zero workQueue is empty.
type workQueue struct {
	front, back *workBlock
}

type workBlock struct {
	works    [63]work
	from, to int // works[from:to] are queued; it is never empty
	next     *workBlock
}

func (q *workQueue) push(w work) {
	if q.back == nil || q.back.to == len(q.back.works) {
		b := new(workBlock)
		if q.back == nil {
			q.front = b
		} else {
			q.back.next = b
		}
		q.back = b
	}
	q.back.works[q.back.to] = w
	q.back.to++
}

func (q *workQueue) empty() bool { return q.front == nil }

// first returns the first work in the queue. The queue must not be empty.
func (q *workQueue) first() work { return q.front.works[q.front.from] }

// more reports whether there is more work behind the first.
func (q *workQueue) more() bool { return q.front.from+1 < q.front.to || q.front.next != nil }

// drop removes the first work.
func (q *workQueue) drop() {
	b := q.front
	b.works[b.from] = nil
	b.from++
	if b.from == b.to {
		q.front = b.next
		if q.front == nil {
			q.back = nil
		}
	}
}
