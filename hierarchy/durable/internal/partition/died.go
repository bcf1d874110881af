package partition

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// mayDie reports whether OnDead must be called for a failed attempt once the failure is in the log.
func (f *firer) mayDie(it *item) bool {
	return it.last && f.cfg.OnDead != nil
}

// afterDeath calls OnDead if the timer has died, and then releases the place of the timer's last attempt. So the Crew
// limits the calls of OnDead, too, and Shutdown waits for them.
func (f *firer) afterDeath(a *attempt, cause error, died bool) {
	defer a.settled(died)
	defer f.leave(a.suspect)
	if died {
		f.asAlarm(func() { f.onDead(a.firing, cause) })
	}
}

// onDead calls OnDead, and logs it if OnDead panics or exits its goroutine.
func (f *firer) onDead(firing Firing, cause error) {
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
	if len(dead) == 0 || f.cfg.OnDead == nil {
		return
	}
	call := func() {
		for _, d := range dead {
			f.asAlarm(func() { f.onDead(d, errEnded) })
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
		ref, ok := f.state.PopExpired(f.time.now())
		if !ok {
			return
		}
		t := f.state.Timer(ref)
		j := job{ref: ref, id: t.ID, key: []byte(t.Key)}
		if f.virtual {
			j.done = wait.NewSignal()
		}
		_ = f.queue.put(item{kind: expired, job: j})
		if f.virtual {
			f.mu.Unlock()
			<-j.done
			f.mu.Lock()
		}
	}
}

// expire adds the removal of a dead timer to the frame. It reports false if the key has another timer by now.
func (d *draft) expire(j *job, was change, hash uint64) bool {
	if was.after != dead || was.id != j.id {
		return false
	}
	d.Add(&frame.Op{Kind: frame.Expire, Key: j.key, ID: j.id})
	was.after = absent
	d.note(hash, dead, was)
	return true
}

// MaxError is the largest number of bytes of an error's text that are written to the log.
const MaxError = 1 << 10

// errorText returns the text of an error for the log, which is not empty. It must be called without locks, as the error
// is a handler's, whose methods may do anything.
func errorText(err error) []byte {
	text := strings.ToValidUTF8(cmp.Or(textOf(err), "an error without a text"), "\uFFFD")
	if len(text) > MaxError {
		n := MaxError
		for !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	return []byte(text)
}

// textOf returns the text of an error. The error may be nil, and its method Error may panic.
func textOf(err error) string {
	if err == nil {
		return "there is no error"
	}
	return fmt.Sprint(err)
}
