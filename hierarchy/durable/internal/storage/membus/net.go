// Package membus is a network in memory that carries the messages of buses, for tests. Its messages can be late, lost,
// doubled and out of order, and processes can be cut off from each other.
package membus

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Net connects Buses. The zero Net delivers each message at once, and is ready to use.
type Net struct {
	mu      sync.Mutex
	fate    func(from, to *Bus) Fate
	delay   func(from *Bus) time.Duration
	buses   []*Bus // in the order of Connect, so that the same messages are sent in the same order
	number  int    // of the Bus that was connected last
	inboxes int
}

// Fate is what becomes of a message on its way to one subscription. The zero Fate is that it arrives at once.
type Fate struct {
	Lost  bool
	After time.Duration // it arrives after that time, so later messages may overtake it
	Again time.Duration // if not 0, it arrives once more, so much later
}

// SetFate makes the Net ask f for the fate of each message. f may be called concurrently.
func (n *Net) SetFate(f func(from, to *Bus) Fate) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fate = f
}

// SetDelay makes the Net ask f how long it takes until a message is with the servers. Only then do they look who is
// subscribed to its subject.
func (n *Net) SetDelay(f func(from *Bus) time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delay = f
}

// Connect returns the Bus of a process.
func (n *Net) Connect() *Bus {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.number++
	b := &Bus{Number: n.number, net: n, changed: make(chan struct{})}
	n.buses = append(n.buses, b)
	return b
}

// send sends a message to the servers.
func (n *Net) send(from *Bus, m storage.Message) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.delay != nil {
		if after := n.delay(from); after > 0 {
			time.AfterFunc(after, func() {
				n.mu.Lock()
				defer n.mu.Unlock()
				n.route(from, m)
			})
			return
		}
	}
	n.route(from, m)
}

// route delivers a message to all subscriptions of its subject. If there is none, whoever sent the message is told that. mu
// must be held.
func (n *Net) route(from *Bus, m storage.Message) {
	found := false
	for _, to := range n.buses {
		for _, s := range to.all {
			if matches(s.subject, m.Subject) {
				found = true
				n.carry(from, to, s, m)
			}
		}
	}
	if !found && m.Reply != "" {
		nobody := storage.Message{Subject: m.Reply, Nobody: true}
		for _, s := range from.all {
			if matches(s.subject, m.Reply) {
				s.queue.put(nobody)
			}
		}
	}
}

// carry delivers a message to a subscription, unless its fate is another one. mu must be held.
func (n *Net) carry(from, to *Bus, s *subscription, m storage.Message) {
	var f Fate
	if n.fate != nil {
		f = n.fate(from, to)
	}
	if f.Lost {
		return
	}
	n.arrive(f.After, to, s, m)
	if f.Again > 0 {
		n.arrive(f.After+f.Again, to, s, m)
	}
}

// arrive delivers a message after a time, if the receiver is not cut off then. mu must be held.
func (n *Net) arrive(after time.Duration, to *Bus, s *subscription, m storage.Message) {
	if after > 0 {
		time.AfterFunc(after, func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.arrive(0, to, s, m)
		})
		return
	}
	if !to.deaf {
		s.queue.put(m)
	}
}

func (n *Net) newInbox() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.inboxes++
	return "inbox." + strconv.Itoa(n.inboxes)
}

// matches reports whether a subject is one that a subscription is for.
func matches(pattern, subject string) bool {
	if before, ok := strings.CutSuffix(pattern, "*"); ok {
		word, ok := strings.CutPrefix(subject, before)
		return ok && word != "" && !strings.Contains(word, ".")
	}
	return pattern == subject
}
