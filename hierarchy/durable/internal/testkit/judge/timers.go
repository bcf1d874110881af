package judge

import (
	"strings"
	"time"
)

// version is a timer that is to fire, as one operation has set it.
type version struct {
	by    *call
	value string
	fires []*fire
}

// life is everything that happened to one key. Its operations come from one caller, one after the other.
type life struct {
	versions []*version
	calls    []*call
}

// heldUp is how long a process may be suspended between reading its wall clock and its monotonic clock at a takeover. The
// owner's time is behind by as much. It is never ahead, as all owners have one clock.
const heldUp = 20 * time.Millisecond

// fits reports whether the version can be due at due. Unless it is of SetAt or MoveAt, its duration counts from some time
// during the call.
func (v *version) fits(due int64) bool {
	switch {
	case v.by.Op == OpSetAt || v.by.Op == OpMoveAt:
		return due == v.by.Due
	case due < v.by.Time+v.by.In-int64(heldUp):
		return false
	}
	return v.by.result() != Took || due <= v.by.answer.Time+v.by.In
}

// JudgeKeys checks promises 3 and 4 for keys whose durations are not recorded: what was acknowledged fires, and nothing
// else does, and nothing too early.
func (h *History) JudgeKeys() *Report {
	r := newReport()
	h.judgeLives(r, h.lives())
	return r
}

// judgeTimers checks promises 3 and 4.
func (h *History) judgeTimers(r *Report) {
	h.judgeLives(r, h.lives())
	for i := range h.fires { // further attempts are due when their owner says
		if f := &h.fires[i]; f.of != nil && f.Attempt == 1 && !f.fits {
			r.broke(misdue, "%s", describe(f))
		}
	}
}

// lives returns the lives of all keys whose timers are to fire.
func (h *History) lives() map[string]*life {
	lives := map[string]*life{}
	for i := range h.calls {
		c := &h.calls[i]
		if strings.HasPrefix(c.Key, SharedKeys) {
			continue
		}
		if lives[c.Key] == nil {
			lives[c.Key] = &life{}
		}
		lives[c.Key].add(c)
	}
	return lives
}

// judgeLives finds the version of each firing, and checks the keys.
func (h *History) judgeLives(r *Report, lives map[string]*life) {
	for i := range h.fires {
		f := &h.fires[i]
		if by := time.Duration(f.Due - f.Time); by > 0 {
			r.brokeOf(Early, f.Key, "%s, by %v", describe(f), by)
		}
		if l := lives[f.Key]; l == nil || !l.assign(f) {
			r.brokeOf(Stranger, f.Key, "%s", describe(f))
		}
	}
	for key, l := range lives {
		h.judgeLife(r, key, l)
	}
}

// add adds the next operation.
func (l *life) add(c *call) {
	l.calls = append(l.calls, c)
	if c.isVoid() {
		return
	}
	v := &version{by: c, value: c.Value}
	switch c.Op {
	case OpMove, OpMoveAt:
		if len(l.versions) == 0 || c.answer != nil && c.result() == Took && !c.answer.OK {
			return // the version had ended before
		}
		v.value = l.versions[len(l.versions)-1].value
	case OpRemove:
		return
	}
	l.versions = append(l.versions, v)
}

// assign finds the version that fired: the last one that was called before and can have been due then. It reports false
// if no version has the value.
func (l *life) assign(f *fire) bool {
	f.of, f.fits = nil, false
	for _, v := range l.versions {
		if v.value != f.Value || v.by.Time > f.Time {
			continue
		}
		if fits := v.fits(f.Due); fits || f.of == nil {
			f.of, f.fits = v, fits
		}
	}
	if f.of == nil {
		return false
	}
	f.of.fires = append(f.of.fires, f)
	return true
}

// judgeLife checks one key.
func (h *History) judgeLife(r *Report, key string, l *life) {
	for _, v := range l.versions {
		ids := map[string]bool{}
		for _, f := range v.fires {
			ids[f.ID] = true
		}
		if len(ids) > 1 {
			r.brokeOf(Twice, key, "%s of %s has %d IDs: %s and %s", v.by.Op, key, len(ids), describe(v.fires[0]), describe(v.fires[len(v.fires)-1]))
		}
		end := l.endOf(v)
		if end == 0 {
			continue
		}
		for _, f := range v.fires {
			if f.Time > end && !h.excused(r, f) {
				r.brokeOf(Revived, key, "%s, replaced or removed at %d", describe(f), end)
			}
		}
	}
	if l.mustFire() && !l.anyDone() {
		r.brokeOf(Lost, key, "%s %q of worker %d, set at %d", key, l.versions[0].value, l.versions[0].by.worker, l.versions[0].by.Time)
	}
}

// endOf returns when the operation that ended a version was answered, or 0.
func (l *life) endOf(v *version) int64 {
	after := false
	for _, c := range l.calls {
		if after && c.result() == Took && c.answer.OK {
			return c.answer.Time
		}
		after = after || c == v.by
	}
	return 0
}

// mustFire reports whether a version was acknowledged, and certainly not removed. If the result of an operation is
// unknown, the version before it or the one after it must fire.
func (l *life) mustFire() bool {
	acknowledged := false
	for _, c := range l.calls {
		switch {
		case c.isVoid():
		case c.Op == OpRemove && (c.result() == Unknown || c.answer.OK):
			return false
		case (c.Op == OpSet || c.Op == OpSetAt) && c.result() == Took:
			acknowledged = true
		}
	}
	return acknowledged
}

// anyDone reports whether a handler has returned nil for a version that no other has replaced.
func (l *life) anyDone() bool {
	for _, v := range l.versions {
		if l.endOf(v) != 0 {
			continue
		}
		for _, f := range v.fires {
			if f.done() {
				return true
			}
		}
	}
	return false
}
