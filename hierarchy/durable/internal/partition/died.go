package partition

import (
	"fmt"
	"runtime/debug"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// mayDie reports whether OnDead must be called for a failed attempt once the failure is in the log.
func (f *firer) mayDie(e *core.Event) bool {
	return e.Last && f.cfg.OnDead != nil
}

// afterDeath calls OnDead if the timer has died, and then releases the place of the timer's last attempt. So the Crew
// limits the calls of OnDead, too, and Shutdown waits for them.
func (f *firer) afterDeath(a *attempt, cause error, died bool) {
	defer a.settled(died)
	defer f.leave(a.Suspect)
	if died {
		f.asAlarm(func() { f.onDead(a.Firing, cause) })
	}
}

// onDead calls OnDead, and logs it if OnDead panics or exits its goroutine.
func (f *firer) onDead(firing core.Firing, cause error) {
	returned := false
	defer func() {
		if r := recover(); !returned {
			f.cfg.Logger.Error("durable: OnDead has not returned", "key", firing.Key, "err", fmt.Sprint("panic: ", r),
				"stack", string(debug.Stack()))
		}
	}()
	f.cfg.OnDead(firing, cause)
	returned = true
}

// mourn calls OnDead, one after the other, for the timers that died at the takeover.
func (f *firer) mourn() {
	dead := f.lost
	f.lost = nil
	if len(dead) == 0 {
		return
	}
	call := func() {
		for _, d := range dead {
			f.asAlarm(func() { f.onDead(d.Firing, d.Cause) })
		}
	}
	if f.virtual {
		call()
		return
	}
	f.apart(call)
}

// apart calls a function in a goroutine that drain waits for.
func (f *firer) apart(call func()) {
	f.mu.Lock()
	f.active++
	f.mu.Unlock()
	go func() {
		call()
		f.mu.Lock()
		f.inactive()
		f.mu.Unlock()
	}()
}

// expiredAtOnce limits the number of dead timers that are removed while mu is held once. The alarm rings again for the
// others.
const expiredAtOnce = 256

// expireDead queues the removal of the dead timers that have been kept for long enough.
func (f *firer) expireDead() {
	for n := 0; (f.virtual || n < expiredAtOnce) && f.mayBegin(); n++ {
		e, ok := f.core.Expire(f.time.now())
		if !ok {
			return
		}
		done := f.signal()
		_ = f.queue.put(item{kind: event, Event: e, done: done})
		if f.virtual {
			f.mu.Unlock()
			<-done
			f.mu.Lock()
		}
	}
}
