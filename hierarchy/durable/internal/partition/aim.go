package partition

import (
	"math"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/instant"
)

// wallCheck is how soon a jump of the wall clock is noticed while timers wait for wall times.
const wallCheck = 10 * time.Second

// wake notes what a wake-up was aimed at. The alarm may have been aimed anew, far ahead, before a ring that
// was under way got here: what it was for has come by now. mu is held.
func (p *Partition) wake() {
	f := &p.firing
	f.aimed, f.woken = false, min(f.at, int64(p.cfg.Clock.Elapsed()))
}

// aim aims the alarm at the next timer. Between two wake-ups is at least Precision. mu is held.
func (p *Partition) aim() {
	f := &p.firing
	if p.alarm == nil || !p.mayFire() { // once it may, settle or Resume calls fireOrAim
		return
	}
	at, ok := p.nearest()
	if !ok {
		if f.aimed {
			f.aimed = false
			p.alarm.Stop()
		}
		return
	}
	if !p.virtual && f.woken != 0 {
		at = max(at, instant.Plus(f.woken, int64(p.cfg.Precision)))
	}
	if !f.aimed || at != f.at {
		f.aimed, f.at = true, at
		p.alarm.Set(time.Duration(at))
	}
}

// nearest is the elapsed time at which something is due next.
func (p *Partition) nearest() (at int64, ok bool) {
	f := &p.firing
	if f.anyLeft() {
		return 0, true
	}
	at = math.MaxInt64
	if due, there := p.state.Next(false); there {
		at, ok = instant.Minus(due, p.time.shift), true
	}
	if due, there := p.state.Next(true); there {
		elapsed := int64(p.time.clock.Elapsed())
		left := max(0, instant.Minus(due, p.time.wall()))
		if !p.virtual {
			left = min(left, int64(wallCheck))
		}
		at, ok = min(at, instant.Plus(elapsed, left)), true
	}
	return at, ok
}
