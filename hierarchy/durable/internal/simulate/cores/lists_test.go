package cores

import (
	"slices"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Some owners list timers from some time on, page by page. A page is what the state has, in the order of the keys, whatever
// has changed since the page before it, and whoever has given that.

// lists has the keys of the timers of a state, by the state in which they are.
type lists map[state.States][]string

func (l lists) add(t state.Timer) {
	st := state.Waiting
	switch {
	case t.Dead:
		st = state.Dead
	case t.Running:
		st = state.Running
	}
	l[st] = append(l[st], t.Key)
}

// cursor is where a list goes on.
type cursor struct {
	lists int // how many there were
	from  string
}

// comparePage compares a page with the timers that there are, once the index has all of them.
func (o *worker) comparePage(all lists) {
	s, c := o.core.State, &o.cursor
	atOnce := 2
	if o.core.Epoch%4 > 1 {
		atOnce = 100
	}
	if o.core.Epoch%2 == 0 || !s.Index(atOnce) {
		return
	}
	states, prefix, n := state.States(1+c.lists%7), []string{"", "k", "k1"}[c.lists%3], 1+c.lists%5
	var want, got []string
	for st, keys := range all {
		for _, key := range keys {
			if states&st != 0 && key >= c.from && strings.HasPrefix(key, prefix) {
				want = append(want, key)
			}
		}
	}
	slices.Sort(want)
	for _, ref := range s.Ordered(states, prefix, c.from, n, nil) {
		got = append(got, s.Timer(ref).Key)
	}
	if want = want[:min(n, len(want))]; !slices.Equal(want, got) {
		o.fail("list: %v instead of %v in states %b from %q, prefix %q", got, want, states, c.from, prefix)
	}
	if len(got) == n {
		c.from = got[n-1] + "\x00"
	} else {
		*c = cursor{lists: c.lists + 1}
	}
}

// shot is a snapshot that is being read, a few timers at a time, while timers change and are written again.
type shot struct {
	*state.Snapshot
	want map[string]state.Timer
}

// takeShot begins a snapshot, now and then.
func (o *worker) takeShot() {
	if o.shot != nil || o.core.Head.Number%4 > 0 {
		return
	}
	s := o.core.State
	o.shot = &shot{s.Snapshot(), make(map[string]state.Timer)}
	s.Walk(1, s.Records(), func(ref state.Ref, _ state.Timer) bool {
		t, e := s.Logged(ref), o.model.timers[s.Timer(ref).Key]
		if goesOn := s.Left(ref) != 0; goesOn {
			e.attempt--
		}
		if t.Attempt != e.attempt {
			o.fail("snapshot: attempt %d of %+v, which is %+v", t.Attempt, t, e)
		}
		t.Home = 0
		o.shot.want[t.Key] = t
		return true
	})
}

// readShot reads the timers of some records, and judges that they are as they were.
func (o *worker) readShot(records int) {
	if o.shot == nil {
		return
	}
	more := o.shot.Take(records, func(t state.Timer) {
		t.Home = 0
		if want := o.shot.want[t.Key]; t != want {
			o.fail("snapshot: %+v instead of %+v", t, want)
		}
		delete(o.shot.want, t.Key)
	})
	if more {
		return
	}
	if n := len(o.shot.want); n > 0 {
		o.fail("snapshot: %d timers are missing", n)
	}
	o.shot.Close()
	o.shot = nil
}
