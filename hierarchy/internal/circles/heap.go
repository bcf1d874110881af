package circles

// heap holds the entries that were linked behind the hand because their deadlines had passed.
type heap []item

func (h *heap) push(x item) {
	*h = append(*h, x)
	a := *h
	i := len(a) - 1
	for i > 0 {
		p := (i - 1) / 4
		if !x.before(a[p]) {
			break
		}
		a[i] = a[p]
		i = p
	}
	a[i] = x
}

func (h *heap) pop() {
	a := *h
	last := len(a) - 1
	x := a[last]
	*h = a[:last]
	if last == 0 {
		if cap(a) > 64 {
			*h = nil
		}
		return
	}
	(*h).sink(0, x)
}

// sink puts x at place i or below it.
func (h heap) sink(i int, x item) {
	for {
		c := 4*i + 1
		if c >= len(h) {
			break
		}
		for j, end := c+1, min(c+4, len(h)); j < end; j++ {
			if h[j].before(h[c]) {
				c = j
			}
		}
		if !h[c].before(x) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = x
}

// keep drops the items for which f returns false.
func (h *heap) keep(f func(item) bool) {
	a := (*h)[:0]
	for _, x := range *h {
		if f(x) {
			a = append(a, x)
		}
	}
	*h = a
	for i := len(a)/4 + 1; i >= 0; i-- {
		if i < len(a) {
			a.sink(i, a[i])
		}
	}
}
