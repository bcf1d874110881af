package core

// HasRoomFor reports whether the frame has room for another call, or for another event if c is nil.
func (o *Owner) HasRoomFor(c *Call, e *Event) bool {
	if c != nil {
		n, size := o.answerRoom(c)
		return o.hasRoom(n+len(c.Ops), size+c.size)
	}
	n, size := 1, len(e.Job.Key)+opBytes
	switch e.kind {
	case begun:
		n, size = 2, 2*size
	case failed:
		size += len(e.text)
	}
	return o.hasRoom(n, size)
}

// hasRoom reports whether the frame has room for n operations. The limit leaves room for a call of the largest size and
// its answer.
func (o *Owner) hasRoom(n, size int) bool {
	return o.Len()+n <= MaxOps+1+keepOps && int64(o.Size()+size) <= o.share(int64(o.most()))
}

// IsLarge reports whether a call might never fit into a frame that also holds what trimming writes again.
func (o *Owner) IsLarge(c *Call) bool { return int64(c.size) >= o.share(FrameBytes)/2 }

// most returns the largest number of bytes of a frame that holds more than one call.
func (o *Owner) most() int { return min(FrameBytes, o.limits.Message) }

// more returns by how much the operations increase the number of pending timers.
func (o *Owner) more(ops []Op) (n int) {
	if len(ops) == 1 {
		was, _ := o.look(ops[0].Key)
		now, _ := o.becomes(&ops[0], was)
		return sum(was.after, now.after)
	}
	here := make(map[string]change, len(ops))
	for i := range ops {
		a := &ops[i]
		was, ok := here[string(a.Key)]
		if !ok {
			was, _ = o.look(a.Key)
		}
		now, _ := o.becomes(a, was)
		here[string(a.Key)] = now
		n += sum(was.after, now.after)
	}
	return n
}

// sum returns by how much the number of pending timers increases when a key changes from was to now: -1, 0 or 1.
func sum(was, now after) (n int) {
	if was == live {
		n--
	}
	if now == live {
		n++
	}
	return n
}
