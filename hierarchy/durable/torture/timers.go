//go:build linux

package main

import (
	"math"
	"strings"
	"time"
)

// version is what one operation has made of a timer that is to fire.
type version struct {
	by       *call
	value    string
	earliest int64 // that it can be due, unix ns
	latest   int64
	fires    []*fire
}

// life is all that happened to one key: its operations come from one caller, one after the other.
type life struct {
	versions []*version
	calls    []*call
}

// dueTolerance is how much times of different processes of one machine may differ by the reading of
// two clocks one after the other.
const dueTolerance = 20 * time.Millisecond

// judgeTimers checks promises 3 and 4.
func (h *history) judgeTimers(r *report) {
	lives := map[string]*life{}
	for i := range h.calls {
		c := &h.calls[i]
		if strings.HasPrefix(c.Key, firingKeys) {
			l := lives[c.Key]
			if l == nil {
				l = &life{}
				lives[c.Key] = l
			}
			l.add(c)
		}
	}
	for i := range h.fires {
		f := &h.fires[i]
		if by := f.Due - f.Wall; by > int64(dueTolerance) {
			r.broke(early, "%s, by %v", describe(f), time.Duration(by))
		}
		l := lives[f.Key]
		if l == nil || !l.assign(r, f) {
			r.broke(stranger, "%s", describe(f))
		}
	}
	for key, l := range lives {
		h.judgeLife(r, key, l)
	}
}

// add takes in the next operation.
func (l *life) add(c *call) {
	l.calls = append(l.calls, c)
	if c.isVoid() {
		return
	}
	v := &version{by: c, value: c.Value, earliest: c.Wall + c.In, latest: math.MaxInt64 - int64(dueTolerance)}
	if c.result() == took {
		v.latest = c.answer.Wall + c.In
	}
	switch c.Op {
	case opSetAt:
		v.earliest, v.latest = c.Due, c.Due
	case opMove:
		if len(l.versions) == 0 || c.answer != nil && c.result() == took && !c.answer.OK {
			return // it has ended before
		}
		v.value = l.versions[len(l.versions)-1].value
	case opRemove:
		return
	}
	l.versions = append(l.versions, v)
}

// assign finds the version that a firing is of. It is false if there is none with its value.
func (l *life) assign(r *report, f *fire) bool {
	var found *version
	for _, v := range l.versions {
		if v.value == f.Value && (found == nil || f.Due >= v.earliest-int64(dueTolerance)) {
			found = v
		}
	}
	if found == nil {
		return false
	}
	found.fires = append(found.fires, f)
	if f.Attempt == 1 && (f.Due < found.earliest-int64(dueTolerance) || f.Due > found.latest+int64(dueTolerance)) {
		r.broke(misdue, "%s, instead of %d to %d", describe(f), found.earliest, found.latest)
	}
	return true
}

// judgeLife checks one key.
func (h *history) judgeLife(r *report, key string, l *life) {
	for _, v := range l.versions {
		ids := map[string]bool{}
		for _, f := range v.fires {
			ids[f.ID] = true
		}
		if len(ids) > 1 {
			r.broke(twice, "%s of %s has %d IDs: %s and %s", v.by.Op, key, len(ids), describe(v.fires[0]), describe(v.fires[len(v.fires)-1]))
		}
		end := l.endOf(v)
		if end == 0 {
			continue
		}
		for _, f := range v.fires {
			if f.Time > end && !h.excused(r, f) {
				r.broke(revived, "%s, replaced or removed at %d", describe(f), end)
			}
		}
	}
	if l.mustFire() && !l.anyDone() {
		r.broke(lost, "%s %q of worker %d, set at %d", key, l.versions[0].value, l.versions[0].by.worker, l.versions[0].by.Time)
	}
}

// endOf is when the operation was answered that ended a version, or 0.
func (l *life) endOf(v *version) int64 {
	after := false
	for _, c := range l.calls {
		if after && c.result() == took && c.answer.OK {
			return c.answer.Time
		}
		after = after || c == v.by
	}
	return 0
}

// mustFire tells whether something was acknowledged, and certainly not removed. If an operation has an
// unknown result, the version before it or after it must fire.
func (l *life) mustFire() bool {
	acknowledged := false
	for _, c := range l.calls {
		switch {
		case c.isVoid():
		case c.Op == opRemove && (c.result() == unknown || c.answer.OK):
			return false
		case (c.Op == opSet || c.Op == opSetAt) && c.result() == took:
			acknowledged = true
		}
	}
	return acknowledged
}

// anyDone tells whether a handler has returned nil for a version that no other has replaced.
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
