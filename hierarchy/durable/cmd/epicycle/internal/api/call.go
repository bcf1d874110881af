package api

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// call is a request of a program that is in progress. It has the limits of the request's time and memory.
type call struct {
	r       *http.Request
	control *http.ResponseController
	limit   time.Duration // how long the request may wait for the timers
	named   bool          // the client has named the limit
	timer   *time.Timer   // ends the context of the request
	memory  share
}

const (
	// timeoutHeader is the header with the limit of a call.
	timeoutHeader = "Epicycle-Timeout"
	// defaultLimit is the limit of a call without that header.
	defaultLimit = 10 * time.Second
	maxLimit     = time.Minute
)

// answerTime is how long the answer to a request may take after the time limit of the request.
const answerTime = time.Minute

// errLate is why the context of a call has ended whose time is over, unlike that of a client that has left.
var errLate = context.DeadlineExceeded

type callKey struct{}

// begin adds a call to the context of a request. The returned function must be called at the end of the request.
func (a *API) begin(w http.ResponseWriter, r *http.Request) (*http.Request, func(), *Problem) {
	texts := r.Header.Values(timeoutHeader)
	limit, err := limitOf(texts)
	if err != nil {
		return r, func() {}, bad(err)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	c := &call{
		control: http.NewResponseController(w), limit: limit, named: len(texts) > 0, timer: time.AfterFunc(limit, func() { cancel(errLate) }),
		memory: share{all: &a.memory},
	}
	c.extend(limit)
	c.r = r.WithContext(context.WithValue(ctx, callKey{}, c))
	return c.r, func() {
		c.timer.Stop()
		cancel(nil)
		c.memory.free()
	}, nil
}

func limitOf(texts []string) (time.Duration, error) {
	if len(texts) == 0 {
		return defaultLimit, nil
	}
	limit, err := time.ParseDuration(texts[0])
	if err != nil || len(texts) > 1 || limit <= 0 || limit > maxLimit {
		return 0, fmt.Errorf("%s: %.40q is not a duration of more than 0s and at most %v, such as 5s", timeoutHeader, texts, maxLimit)
	}
	return limit, nil
}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// extend has the request begin to wait for the timers now, for no longer than a time. It is called again at each step of
// a long request.
func (c *call) extend(limit time.Duration) {
	c.timer.Reset(limit)
	_ = c.control.SetWriteDeadline(time.Now().Add(limit + answerTime))
}

// pause stops the time limit, until extend is called. It is for the time in which the client is to act.
func (c *call) pause() { c.timer.Stop() }

// partly returns when a call ends that can end with a part of what it was to do: a while before its time is over.
func (c *call) partly() time.Time { return time.Now().Add(c.limit / 5 * 4) }
