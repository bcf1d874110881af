package lane

import (
	"container/heap"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
)

// class has the timers of all places that the same limits of prefixes are for. The class of timers without any is nil.
type class struct{ rules []*rule }

// prefixes are the limits that are for prefixes. They do not change: a Gate gets others.
type prefixes struct {
	lengths []int // of the prefixes, the longest first
	classes map[string]*class
}

// prefixesOf returns the limits of prefixes among all rules, or those of before if they are the same.
func prefixesOf(rules map[limits.Scope]*rule, before *prefixes) *prefixes {
	p := &prefixes{classes: make(map[string]*class)}
	same := 0
	for s, r := range rules {
		if s.Kind != limits.Prefix {
			continue
		}
		p.classes[s.Name] = new(class)
		p.lengths = append(p.lengths, len(s.Name))
		if old := before.classes[s.Name]; old != nil && slices.Contains(old.rules, r) {
			same++
		}
	}
	if same == len(p.classes) && same == len(before.classes) {
		return before
	}
	slices.SortFunc(p.lengths, func(a, b int) int { return b - a })
	p.lengths = slices.Compact(p.lengths)
	for name, c := range p.classes {
		for _, n := range p.lengths {
			if n <= len(name) && p.classes[name[:n]] != nil {
				c.rules = append(c.rules, rules[limits.Scope{Kind: limits.Prefix, Name: name[:n]}])
			}
		}
	}
	return p
}

// of returns the class of a key.
func (p *prefixes) of(key string) *class {
	for _, n := range p.lengths {
		if n <= len(key) {
			if c := p.classes[key[:n]]; c != nil {
				return c
			}
		}
	}
	return nil
}

// place is where timers wait for their attempts: at a host, or in a queue.
type place struct {
	gate   *Gate
	scopes []limits.Scope
	// turn begins attempts, or has a worker begin one soon, and then reports true. It takes the lock of the place.
	turn func(r *rule) bool

	sorts *prefixes // that the classes are of
	parts []part
	heads firsts // of the last call of rank
	seq   uint64 // of the last timer that has come

	blocked []*rule // that know the place. The lock of the Gate guards it
}

// part has the timers of a class. No place has one without timers.
type part struct {
	class *class
	waiting
}

// sort moves the timers to other classes if there are limits of other prefixes.
func (p *place) sort() {
	now := p.gate.sorts.Load()
	if p.sorts == now {
		return
	}
	parts := p.parts
	p.sorts, p.parts = now, nil
	for i := range parts {
		for _, it := range parts[i].keys {
			p.add(it.Due, it.seq)
		}
	}
}

func (p *place) push(d Due) {
	p.sort()
	p.seq++
	p.add(d, p.seq)
}

func (p *place) add(d Due, seq uint64) {
	c := p.sorts.of(d.Key)
	i := slices.IndexFunc(p.parts, func(one part) bool { return one.class == c })
	if i < 0 {
		i = len(p.parts)
		p.parts = append(p.parts, part{class: c})
	}
	p.parts[i].waiting.push(d, seq)
}

// partOf returns the part with the timer of a key, or nil.
func (p *place) partOf(key string) *part {
	i := slices.IndexFunc(p.parts, func(one part) bool { return one.hasKey(key) })
	if i < 0 {
		return nil
	}
	return &p.parts[i]
}

func (p *place) remove(key string, id durable.ID) {
	if one := p.partOf(key); one != nil {
		one.waiting.remove(key, id)
		p.trim()
	}
}

func (p *place) hasKey(key string) bool { return p.partOf(key) != nil }

func (p *place) len() (n int) {
	for i := range p.parts {
		n += p.parts[i].len()
	}
	return n
}

// trim drops parts without timers.
func (p *place) trim() {
	p.parts = slices.DeleteFunc(p.parts, func(one part) bool { return one.len() == 0 })
	if len(p.parts) == 0 {
		p.parts = nil
	}
}

// pop removes the first timer whose key has the prefix, of those that may be tried, and begins its attempt.
func (p *place) pop(prefix string) (d Due, pass Pass, ok bool) {
	for p.rank(prefix); len(p.heads) > 0; heap.Pop(&p.heads) {
		one := p.heads[0].part
		if pass, ok = p.gate.enter(p, one.class); ok {
			d, _ = one.pop(prefix)
			p.trim()
			return d, pass, true
		}
	}
	return d, nil, false
}

// ready returns the key of a timer that pop would return.
func (p *place) ready(prefix string) (key string, ok bool) {
	for p.rank(prefix); len(p.heads) > 0; heap.Pop(&p.heads) {
		if p.gate.open(p, p.heads[0].part.class) {
			return p.heads[0].Key, true
		}
	}
	return "", false
}

// rank makes p.heads the first timers of all parts whose keys have the prefix.
func (p *place) rank(prefix string) {
	p.sort()
	p.heads = p.heads[:0]
	for i := range p.parts {
		if it := p.parts[i].order(prefix).first(); it != nil {
			p.heads = append(p.heads, head{it, &p.parts[i]})
		}
	}
	heap.Init(&p.heads)
}

// firsts implements heap.Interface.
type firsts []head

// head is the first timer of a part.
type head struct {
	*item
	part *part
}

func (f firsts) Len() int           { return len(f) }
func (f firsts) Less(i, j int) bool { return f[i].before(f[j].item) }
func (f firsts) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *firsts) Push(x any)        { *f = append(*f, x.(head)) }
func (f *firsts) Pop() (x any) {
	last := len(*f) - 1
	x, *f = (*f)[last], (*f)[:last]
	return x
}

// mayTry reports whether the timer of a key, which waits, may be tried now.
func (p *place) mayTry(key string) bool {
	p.sort()
	one := p.partOf(key)
	return one != nil && p.gate.open(p, one.class)
}
