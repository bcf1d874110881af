package lane

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
)

// Gate lets attempts begin as limits allow. It knows the attempts in progress that have a limit, and the places whose
// timers wait because of one: when the limit lets an attempt begin, one of them gets a turn, in the order in which they
// came. Its lock is taken after that of a place. NewGate makes one.
type Gate struct {
	now    func() time.Time
	share  Sharing
	limits atomic.Int64 // how many there are
	sorts  atomic.Pointer[prefixes]

	mu    sync.Mutex
	rules map[limits.Scope]*rule
	ended bool
}

// Sharing asks for the attempts of limits that several servers share. Its methods must not block.
type Sharing interface {
	// Want is called when timers wait because of a limit: Grant is to be called when more attempts may begin.
	Want(s limits.Scope)
	// Ended is called when an attempt has ended that was granted.
	Ended(s limits.Scope)
}

// NewGate returns a Gate without limits. share is nil if a server has them alone.
func NewGate(share Sharing) *Gate {
	g := &Gate{now: time.Now, share: share, rules: make(map[limits.Scope]*rule)}
	g.sorts.Store(new(prefixes))
	return g
}

// Set sets all limits. Timers that wait because of one that is gone, or changed, get a turn.
func (g *Gate) Set(all map[limits.Scope]limits.Limit) {
	g.mu.Lock()
	now := g.now()
	changed := slices.Collect(maps.Values(g.rules))
	for s, r := range g.rules {
		if all[s].IsZero() {
			r.set(limits.Limit{}, now)
			delete(g.rules, s)
		}
	}
	for s, l := range all {
		if l.IsZero() {
			continue
		}
		if g.rules[s] == nil {
			g.rules[s] = &rule{gate: g, scope: s, places: make(map[*place]*blocked)}
		}
		g.rules[s].set(l, now)
	}
	g.limits.Store(int64(len(g.rules)))
	g.sorts.Store(prefixesOf(g.rules, g.sorts.Load()))
	g.mu.Unlock()
	for _, r := range changed {
		r.turn()
	}
}

// Stop ends all turns.
func (g *Gate) Stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	for _, r := range g.rules {
		r.stop()
	}
}

// Grant lets n more attempts of a shared limit begin.
func (g *Gate) Grant(s limits.Scope, n int) {
	g.mu.Lock()
	r := g.rules[s]
	if r != nil {
		r.granted += n
	}
	g.mu.Unlock()
	if r != nil {
		r.turn()
	}
}

// Spare takes back what was granted and is not used, and returns how much that is.
func (g *Gate) Spare(s limits.Scope) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.rules[s]; r != nil {
		n, r.granted = r.granted, 0
	}
	return n
}

// Shared returns how many timers wait because of a shared limit, about, and how many attempts of those that were granted
// are in progress or may begin.
func (g *Gate) Shared(s limits.Scope) (waiting, held int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.rules[s]
	if r == nil {
		return 0, 0
	}
	if r.order.Len() > 0 && r.shared() {
		waiting = max(1, r.waits)
	}
	return waiting, r.granted + r.running
}

// enter begins an attempt at a place, unless a limit prevents it. Then the place gets a turn later. The caller has the
// lock of the place.
func (g *Gate) enter(p *place, c *class) (Pass, bool) {
	return g.ask(p, c, true)
}

// open reports whether an attempt could begin. If it could not, the place gets a turn later.
func (g *Gate) open(p *place, c *class) bool {
	_, ok := g.ask(p, c, false)
	return ok
}

func (g *Gate) ask(p *place, c *class, begin bool) (pass Pass, ok bool) {
	if g.limits.Load() == 0 {
		return nil, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	rules := g.of(p.scopes, c)
	now := g.now()
	for _, r := range rules {
		if r.room(now) == 0 {
			r.block(p, now)
			return nil, false
		}
	}
	if begin {
		for _, r := range rules {
			r.begin(now)
		}
	}
	return rules, true
}

// forget has a place get no turn, since it has neither timers nor takers.
func (g *Gate) forget(p *place) {
	if g.limits.Load() == 0 {
		return // nobody waits because of one
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(p.blocked) > 0 {
		p.blocked[0].leave(p)
	}
}

// again has a place get another turn of a rule. The caller has the lock of the place.
func (g *Gate) again(p *place, r *rule) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.join(p)
}

// of returns the rules of a place and of a class of its timers. mu is held.
func (g *Gate) of(scopes []limits.Scope, c *class) (all []*rule) {
	for _, s := range scopes {
		if r := g.rules[s]; r != nil {
			all = append(all, r)
		}
	}
	if c != nil {
		all = append(all, c.rules...)
	}
	return all
}

// Pass is an attempt in progress, for the limits that it counts for. The zero value counts for none.
type Pass []*rule

// End ends the attempt.
func (p Pass) End() {
	for _, r := range p {
		r.end()
	}
	for _, r := range p {
		r.turn()
	}
}

// count adds the timers of a place that wait because of limits to the counts of these.
func (g *Gate) count(p *place, counts map[limits.Scope]int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	for i := range p.parts {
		for _, r := range g.of(p.scopes, p.parts[i].class) {
			if r.room(now) == 0 {
				counts[r.scope] += p.parts[i].len()
			}
		}
	}
}

// Holds returns the first limit because of which a timer would not be tried now. own is whether it is of this server, which
// does not know what others may do by limits that they share.
func (g *Gate) Holds(scopes []limits.Scope, key string, own bool) (s limits.Scope, ok bool) {
	if g.limits.Load() == 0 {
		return s, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	for _, r := range g.of(scopes, g.sorts.Load().of(key)) {
		if r.room(now) == 0 && (own || !r.shared()) {
			return r.scope, true
		}
	}
	return s, false
}
