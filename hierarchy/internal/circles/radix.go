package circles

// radixSort sorts entries by deadline, in portions. It deals them over as many lists as a
// digit has values, by the lowest digit first. Entries whose deadlines are equal stay in
// their order.
type radixSort struct {
	from, to []entry
	lo       int64
	width    int
	shift    int // of the digit that is being sorted by
	digit    int // how many bits a digit has
	at       int // how many entries were counted, or dealt
	dealing  bool
	next     [1 << largestDigit]int32 // by value of the digit: how many have it, or where the next goes
}

const (
	smallestDigit = 6
	largestDigit  = 11 // the counters fit in the fastest cache
)

// begin makes ready to sort from with the help of to, which is of the same length. No
// deadline is before lo, and they differ from it in their lowest width bits.
func (r *radixSort) begin(from, to []entry, lo int64, width int) {
	r.from, r.to, r.lo, r.width, r.shift = from, to, lo, width, 0
	r.digit = smallestDigit
	for r.digit < largestDigit && 1<<r.digit < len(r.from) {
		r.digit++
	}
}

// run goes through no more than so many entries, and returns how many more it could go through
// now that all are sorted. Then they are in from.
func (r *radixSort) run(entries int) (left int) {
	for r.shift < r.width && entries > 0 {
		n := min(entries, len(r.from)-r.at)
		entries -= n
		portion := r.from[r.at : r.at+n]
		r.at += n
		if r.dealing {
			r.deal(portion)
		} else {
			r.count(portion)
		}
		if r.at == len(r.from) {
			r.turn()
		}
	}
	return entries
}

// value is the digit of e that is being sorted by.
func (r *radixSort) value(e entry) uint64 {
	return uint64(e.key-r.lo) >> uint(r.shift) & (1<<uint(r.digit) - 1) & (1<<largestDigit - 1)
}

func (r *radixSort) count(portion []entry) {
	for _, e := range portion {
		r.next[r.value(e)]++
	}
}

func (r *radixSort) deal(portion []entry) {
	for _, e := range portion {
		v := r.value(e)
		r.to[r.next[v]] = e
		r.next[v]++
	}
}

// turn goes from counting to dealing, and from dealing to counting by the next digit.
func (r *radixSort) turn() {
	r.at = 0
	next := r.next[:1<<uint(r.digit)]
	if r.dealing = !r.dealing; !r.dealing {
		clear(next)
		r.from, r.to = r.to, r.from
		r.shift += r.digit
		return
	}
	sum := int32(0)
	for v, n := range next {
		next[v], sum = sum, sum+n
	}
}
