package member

import (
	"context"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// trouble does something to a process.
func (l *loop) trouble(p *member) {
	if p.dead {
		l.start()
		return
	}
	on, kind := l.r.IntN(2) == 0, l.r.IntN(18)
	l.Add("%v trouble %d with process %d: %v", l.now(), kind, p.n, on)
	switch kind {
	case 0, 1:
		p.cut = on
	case 2:
		p.silence()
	case 3:
		p.broken = true
	case 4:
		p.pause(on)
	case 5, 6:
		p.level = l.r.IntN(101)
	case 7:
		p.kill()
		l.start()
	case 8, 9:
		p.setUnable(l.r.IntN(partitions), on)
	case 10:
		p.setOff(on)
	case 11, 12:
		p.leave()
	default:
		l.troubleAll(kind, on)
	}
}

// troubleAll does something to all processes.
func (l *loop) troubleAll(kind int, on bool) {
	switch kind {
	case 13:
		l.strangers()
	case 14: // the table is away
		l.cutAll(on)
	case 15: // and comes back when all leases are over
		l.cutAll(true)
		l.pass(2 * testLease)
		l.cutAll(false)
	case 16:
		if on {
			l.jump()
		}
	case 17:
		if on {
			l.born()
		}
	}
}

func (l *loop) cutAll(on bool) {
	for _, p := range l.processes {
		p.cut = on
	}
}

func (p *member) pause(on bool) {
	p.paused, p.muted.at = on, p.now()
}

func (p *member) setUnable(at int, is bool) {
	p.unable[at] = is
	if p.m != nil {
		p.m.SetUnable(at, is)
		p.wake(p.fibers...)
	}
}

func (p *member) setOff(off bool) {
	p.off = off
	if p.m != nil {
		p.m.SetOff(off)
		p.wake(p.fibers...)
	}
}

// leave has a process leave in order: share goes on with it.
func (p *member) leave() {
	if p.m == nil || p.observes || p.leaves > 0 {
		return
	}
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.m.Leave(now) // it doesn't wait
	p.leaves = p.now()
	p.wake(p.fibers...)
}

// jump lets hours pass in which nothing happens, as if all machines were suspended. The table has forgotten deletions
// then, what was on its way is lost, and so are watches.
func (l *loop) jump() {
	for _, b := range slices.Clone(l.fibers) {
		if b.of == nil {
			l.stop(b)
		}
	}
	time.Sleep(2 * time.Hour)
	l.table.forget()
	for _, p := range l.processes {
		p.muted.at, p.broken = l.now(), true
	}
}

// born starts a process whose first record is written, and deleted by others before it learns of it.
func (l *loop) born() {
	p := l.start()
	p.unheard = true
	l.pass(testLease)
	p.cut = true
	l.pass(2 * testLease)
	l.jump()
	p.cut, p.unheard = false, false
}

// strangers write records that no version has written, or a later one: members are what such a record says, and a claim
// is nobody's.
func (l *loop) strangers() {
	for range l.r.IntN(3) {
		at := l.r.IntN(partitions)
		value := []string{``, `{`, `{"holder":"0000000000000001"}`, `{"version":1,"holder":"1"}`}[l.r.IntN(4)]
		if was := l.table.records[claimKey(at)]; was.Revision == 0 {
			l.table.write(storage.Record{Key: claimKey(at), Value: []byte(value)})
		}
	}
	for range l.r.IntN(2) {
		value := []string{`{`, `{"version":2,"lease":"new"}`, `{"version":1,"new":true}`, `{"lease":-1}`,
			`{"version":2,"leaving":true,"unable":[2,1]}`, `{"version":1,"off":true}`}[l.r.IntN(6)]
		l.table.write(storage.Record{Key: memberKey(ID(l.r.Uint64() | 1)), Value: []byte(value)})
	}
}

// away has the table be away for two fifths of a lease: no lease may end.
func (l *loop) away() {
	if l.wrong != nil {
		return
	}
	shortest := testLease
	for _, p := range l.processes {
		if !p.dead && !p.observes {
			shortest = min(shortest, time.Duration(float64(p.cfg.Lease)/p.rate))
		}
	}
	l.pass(time.Duration(l.r.Int64N(int64(shortest))))
	l.held = true
	l.cutAll(true)
	l.pass(2 * shortest / 5)
	l.cutAll(false)
	l.pass(2 * testLease)
	l.held = false
}

// deaths kills all processes. Those that observe see that partitions have no owner any more.
func (l *loop) deaths() {
	if l.wrong != nil {
		return
	}
	l.judgeUnowned(false)
	for _, p := range l.processes {
		if !p.observes {
			p.kill()
		}
	}
	l.pass(3 * testLease / 2)
	l.judgeUnowned(true)
}
