package lane

import (
	"container/list"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
)

// patience is how long a host may take to answer before it hangs.
const patience = time.Second

// host is a host with timers that wait or run, or of which Hosts remembers whether it answers.
type host struct {
	name     string
	waiting  place
	limited  bool // no timer may be tried for now, because of limits
	running  int  // its calls
	young    int  // those of them that are in Hosts.young
	state    state
	answered time.Time // the last answer
	line     line
	element  *list.Element // the place of the host in its line or, if it is in none, in Hosts.resting, or nil
}

// state is what is known about a host.
type state int

const (
	unseen  state = iota // nothing
	answers              // it has answered, and does not hang since
	hangs                // a call had no answer within patience, or its timeout, or failed; and no other had an answer since
	states
)

// learn draws a conclusion from what a call has shown.
func (at *host) learn(c *call, o Outcome) {
	switch {
	case o == Answered:
		at.state, at.answered = answers, time.Now()
	case o == Silent && !at.answered.After(c.began):
		at.state = hangs
	}
}

// line is a line of hosts with timers that wait, for one kind of place. In each line, the host that came first gets the
// next place, for one call. The lines are in order of precedence:
//
//	line     hosts                             places
//	own      that answer and have no call      always one
//	shared   that answer, for further calls    total
//	first    that are unseen                   2 × total, if fewer are in use than all of them,
//	probe    that hang and have no call        … than three quarters of them,
//	more     that hang, for a further call     … than half of them
//
// Calls of the last three lines begin at a pace. A host of these lines has one call that is younger than patience, so it
// gets one more each second. A call of the first two lines without an answer within patience is moved to a place of the
// others, while there is room: so those who wait in shared do so for calls that end, or move, within a second.
type line int

const (
	none line = iota // for hosts that wait for none
	own
	shared
	first
	probe
	more
	lines
)

// hasRoom reports whether there is a place for the first host of a line. mu is held.
func (h *Hosts) hasRoom(l line, now time.Time) bool {
	switch l {
	case own:
		return true
	case shared:
		return h.prompt+max(0, h.slow-h.slowPlaces(first)) < h.total
	default:
		return h.slow < h.slowPlaces(l) && h.pace.ahead(now) <= 0
	}
}

// slowPlaces returns how many slow calls there may be for the hosts of a line.
func (h *Hosts) slowPlaces(l line) int {
	most := 2 * h.total
	switch l {
	case probe:
		return most - most/4
	case more:
		return most / 2
	default:
		return most
	}
}

// lineOf returns the line to which a host belongs. mu is held.
func (h *Hosts) lineOf(at *host) line {
	switch {
	case at.waiting.len() == 0 || at.limited || at.running >= h.perHost:
		return none
	case at.state == answers && at.running == 0:
		return own
	case at.state == answers:
		return shared
	case at.young > 0:
		return none
	case at.state == unseen:
		return first
	case at.running == 0:
		return probe
	default:
		return more
	}
}

// enlist moves a host to the line to which it belongs. mu is held.
func (h *Hosts) enlist(at *host) {
	if l := h.lineOf(at); l != at.line {
		h.leave(at)
		if l != none {
			at.line, at.element = l, h.lines[l].PushBack(at)
		}
	}
}

// leave removes a host from its line. mu is held.
func (h *Hosts) leave(at *host) {
	if at.line != none {
		h.lines[at.line].Remove(at.element)
		at.line, at.element = none, nil
	}
}

// rest forgets a host that has neither timers nor calls, unless it is known whether it answers: for each answer to that,
// as many hosts are remembered as there are places, those that were in use last. mu is held.
func (h *Hosts) rest(at *host) {
	if at.running > 0 || at.waiting.len() > 0 || at.element != nil {
		return
	}
	h.gate.forget(&at.waiting)
	if at.state == unseen {
		delete(h.hosts, at.name)
		return
	}
	at.waiting.parts, at.limited = nil, false
	all := &h.resting[at.state]
	at.element = all.PushBack(at)
	if all.Len() > h.total {
		delete(h.hosts, all.Remove(all.Front()).(*host).name)
	}
}

// wake returns the host with a name. mu is held.
func (h *Hosts) wake(name string) *host {
	at := h.hosts[name]
	if at == nil {
		at = h.newHost(name)
		h.hosts[name] = at
	}
	if at.line == none && at.element != nil {
		h.resting[at.state].Remove(at.element)
		at.element = nil
	}
	return at
}

func (h *Hosts) newHost(name string) *host {
	at := &host{name: name}
	at.waiting.gate, at.waiting.scopes = h.gate, scopesOf(name)
	at.waiting.turn = func(*rule) bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.unlimit(at)
		h.dispatch()
		return false
	}
	return at
}

// subjectPrefix makes the name of a subject one that no host has.
const subjectPrefix = "subject "

// SubjectName returns the name by which Hosts knows a subject.
func SubjectName(subject string) string { return subjectPrefix + subject }

func scopesOf(name string) []limits.Scope {
	if subject, ok := strings.CutPrefix(name, subjectPrefix); ok {
		return []limits.Scope{{Kind: limits.Subject, Name: subject}}
	}
	return limits.HostScopes(name)
}

// unlimit has a host try its timers again, since a limit may have changed, or there are others. mu is held.
func (h *Hosts) unlimit(at *host) {
	at.limited = false
	h.enlist(at)
}

// Figures are the numbers of Hosts.
type Figures struct {
	Running int // timers whose calls are in progress
	Waiting int // timers that wait
	Hanging int // hosts with timers that do not answer: not within a second, and not since
	Held    int // timers that wait for these hosts
	Crowded int // hosts without a call that wait until hosts that do not answer have fewer of them
}

// Figures returns a snapshot.
func (h *Hosts) Figures() Figures {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := Figures{Running: h.running(), Crowded: h.crowded()}
	for _, at := range h.hosts {
		n := at.waiting.len()
		f.Waiting += n
		if at.state == hangs && (n > 0 || at.running > 0) {
			f.Hanging++
			f.Held += n
		}
	}
	return f
}

// Crowded is Figures().Crowded, in constant time.
func (h *Hosts) Crowded() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.crowded()
}

func (h *Hosts) crowded() (n int) {
	for _, l := range []line{first, probe} {
		if h.slow >= h.slowPlaces(l) {
			n += h.lines[l].Len()
		}
	}
	return n
}
