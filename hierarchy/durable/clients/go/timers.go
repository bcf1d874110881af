package epicycle

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Set sets a timer that is due after a time. value is anything that is JSON. If there is a timer with this key, it is
// replaced.
func (c *Client) Set(ctx context.Context, key string, value any, d time.Duration, to Target) (Timer, error) {
	t, _, err := c.Put(ctx, key, Setting{Value: value, In: d, To: to})
	return t, err
}

// SetAt is like Set for a timer that is due at a time.
func (c *Client) SetAt(ctx context.Context, key string, value any, at time.Time, to Target) (Timer, error) {
	if at.IsZero() {
		return Timer{}, errNoTime
	}
	t, _, err := c.Put(ctx, key, Setting{Value: value, At: at, To: to})
	return t, err
}

var errNoTime = errors.New("the time is zero")

// SetSchedule is like Set for a timer that is due each time that a schedule says.
func (c *Client) SetSchedule(ctx context.Context, key string, value any, schedule string, to Target) (Timer, error) {
	t, _, err := c.Put(ctx, key, Setting{Value: value, Schedule: schedule, To: to})
	return t, err
}

// Put sets a timer. It reports whether the condition of s was met; if not, it returns the timer that is there. A request
// with a condition is not repeated if it is unknown whether it has taken hold, as the timer that it has set would then be
// in its own way.
func (c *Client) Put(ctx context.Context, key string, s Setting) (t Timer, ok bool, err error) {
	path := Path(key)
	if s.If != "" {
		path += "?if=" + url.QueryEscape(string(s.If))
	}
	err = c.send(ctx, request{method: http.MethodPut, path: path, in: s.body(), out: &t, again: s.If == ""})
	if e, conflict := hasStatus(err, http.StatusConflict); conflict && e.Timer != nil {
		return *e.Timer, false, nil
	}
	return t, err == nil, err
}

// Move moves a timer, so that it is due after a time from now. It reports whether there was one.
func (c *Client) Move(ctx context.Context, key string, d time.Duration) (t Timer, ok bool, err error) {
	return c.move(ctx, key, d, time.Time{})
}

// MoveAt is like Move to a time.
func (c *Client) MoveAt(ctx context.Context, key string, at time.Time) (t Timer, ok bool, err error) {
	if at.IsZero() {
		return t, false, errNoTime
	}
	return c.move(ctx, key, 0, at)
}

func (c *Client) move(ctx context.Context, key string, d time.Duration, at time.Time) (Timer, bool, error) {
	var b body
	b.setTime(d, at)
	return c.one(ctx, request{method: http.MethodPatch, path: Path(key), in: b, again: true})
}

// Pause pauses the schedule of a timer: no attempt begins until Resume. It reports whether there was a timer. One without
// a schedule can't be paused: the error then has the status 409.
func (c *Client) Pause(ctx context.Context, key string) (t Timer, ok bool, err error) {
	return c.pause(ctx, key, true)
}

// Resume ends a Pause. Runs that fell due in it are not made up for.
func (c *Client) Resume(ctx context.Context, key string) (t Timer, ok bool, err error) {
	return c.pause(ctx, key, false)
}

func (c *Client) pause(ctx context.Context, key string, paused bool) (Timer, bool, error) {
	return c.one(ctx, request{method: http.MethodPatch, path: Path(key), in: map[string]bool{"paused": paused}, again: true})
}

// Get returns a timer, and reports whether there is one.
func (c *Client) Get(ctx context.Context, key string) (t Timer, ok bool, err error) {
	return c.one(ctx, request{method: http.MethodGet, path: Path(key), again: true})
}

// Remove removes a timer and returns it. It reports whether there was one. It is not repeated if it is unknown whether it
// has taken hold, as the second request would find no timer.
func (c *Client) Remove(ctx context.Context, key string) (t Timer, ok bool, err error) {
	return c.one(ctx, request{method: http.MethodDelete, path: Path(key)})
}

// Revive makes a dead timer due now. It reports whether there was one. It is repeated no more than Remove.
func (c *Client) Revive(ctx context.Context, key string) (t Timer, ok bool, err error) {
	return c.one(ctx, request{method: http.MethodPost, path: Path(key) + "/revive"})
}

// one sends a request for a timer that may not be there.
func (c *Client) one(ctx context.Context, r request) (t Timer, ok bool, err error) {
	r.out = &t
	err = c.send(ctx, r)
	if e, absent := hasStatus(err, http.StatusNotFound); absent && e.Body != nil {
		return t, false, nil
	}
	return t, err == nil, err
}

// Query selects timers.
type Query struct {
	Prefix string // of the keys
	State  string // waiting, running, dead, failing or paused; empty for all
	After  string // the Next of the page before
	Limit  int    // of the page, at most 1,000, which is the default
}

// Page is some of the timers of a Query, in the order of their keys. Next is empty at the end.
type Page struct {
	Timers []Timer `json:"timers"`
	Next   string  `json:"next"`
}

const maxPage = 1000

// List returns a page of timers.
func (c *Client) List(ctx context.Context, q Query) (p Page, err error) {
	err = c.Do(ctx, http.MethodGet, q.Path(), nil, &p)
	return p, err
}

// Path returns the path of the request of a page, for Do.
func (q Query) Path() string {
	if q.Limit <= 0 {
		q.Limit = maxPage
	}
	v := url.Values{"limit": {strconv.Itoa(q.Limit)}}
	for name, text := range map[string]string{"prefix": q.Prefix, "state": q.State, "after": q.After} {
		if text != "" {
			v.Set(name, text)
		}
	}
	return "/v1/timers?" + v.Encode()
}

// All iterates over all timers of a Query, in the order of their keys, page by page. It ends after an error.
func (c *Client) All(ctx context.Context, q Query) iter.Seq2[Timer, error] {
	return func(yield func(Timer, error) bool) {
		for {
			p, err := c.List(ctx, q)
			if err != nil {
				yield(Timer{}, err)
				return
			}
			for _, t := range p.Timers {
				if !yield(t, nil) {
					return
				}
			}
			if q.After = p.Next; q.After == "" {
				return
			}
		}
	}
}

// RemoveAll removes all timers whose keys have a prefix, or with an empty prefix all timers. That may take several
// requests: after each, it calls progress, unless that is nil, with the number of timers that were removed so far.
func (c *Client) RemoveAll(ctx context.Context, prefix string, progress func(removed int)) (removed int, err error) {
	q := url.Values{"prefix": {prefix}}
	if prefix == "" {
		q = url.Values{"all": {"true"}}
	}
	for more := true; more; {
		var some struct {
			Removed int
			More    bool
		}
		if err := c.Do(ctx, http.MethodDelete, "/v1/timers?"+q.Encode(), nil, &some); err != nil {
			return removed, err
		}
		more = some.More
		removed += some.Removed
		if progress != nil {
			progress(removed)
		}
	}
	return removed, nil
}
