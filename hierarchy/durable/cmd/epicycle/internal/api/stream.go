package api

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
)

// streams limits the long answers of a kind that are given at once, and with them the memory that they take while their
// clients read: each has no more than a few hundred kilobytes, and as much again with several servers.
type streams struct {
	most     int           // at once
	each     int           // of them to one bearer, so that others get answers, too
	patience time.Duration // for a client that does not read

	mu  sync.Mutex
	all int
	of  map[string]int // by the names of the bearers; none is 0
}

func newLists() streams {
	return streams{most: 128, each: 96, patience: 15 * time.Second, of: make(map[string]int)}
}

func newExports() streams {
	return streams{most: 8, each: 4, patience: partTime, of: make(map[string]int)}
}

func newFollows() streams {
	return streams{most: 64, each: 32, patience: 15 * time.Second, of: make(map[string]int)}
}

// begin reports whether there may be another answer to a bearer. If so, end must be called after it.
func (s *streams) begin(bearer string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= s.most || s.of[bearer] >= s.each {
		return false
	}
	s.all++
	s.of[bearer]++
	return true
}

func (s *streams) end(bearer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[bearer]--; s.of[bearer] == 0 {
		delete(s.of, bearer)
	}
}

var errStreams = func() *Problem {
	p := problem(http.StatusTooManyRequests, "too many lists, exports or events are being read")
	p.retryAfter = retryTime
	return p
}()

// stream sends a long answer, which write writes a little at a time. If it fails after the answer has begun, it cuts the
// connection, so that the client does not take a part of the answer for the whole.
func (a *API) stream(ctx context.Context, w http.ResponseWriter, s *streams, contentType string, write func(*bufio.Writer) error) {
	name := ""
	if who, ok := ctx.Value(bearerKey{}).(*access.Bearer); ok {
		name = who.Name
	}
	if !s.begin(name) {
		errStreams.write(w)
		return
	}
	defer s.end(name)
	part := &parts{w: w, call: callOf(ctx), most: s.patience, patience: s.patience}
	out := bufio.NewWriterSize(part, partSize)
	w.Header().Set("Content-Type", contentType)
	err := write(out)
	if err == nil {
		err = out.Flush()
	}
	switch {
	case err == nil:
	case !part.begun:
		failure(err).write(w)
	case part.failed || isGone(ctx): // any client can do that, as often as it likes
		a.Logger.Debug("epicycle: a client has not read its export or list to the end", "err", err)
		panic(http.ErrAbortHandler)
	default:
		a.Logger.Warn("epicycle: an export or a list has failed midway", "err", err)
		panic(http.ErrAbortHandler)
	}
}

// isGone reports whether the client of a call has left.
func isGone(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errLate)
}

const (
	// partTime is the time limit for each part of a long body, of a request or an answer. The whole body has no time
	// limit, and the call's limit is for each wait between two parts.
	partTime = time.Minute
	// partSize is the number of bytes that are written at once.
	partSize = 32 << 10
	// leastRate is the number of bytes that a client must read in a second, on average, lest it keep an answer for ever.
	leastRate = partSize
)

// parts sends a long answer. Its client has a time in which it need not read, and gets it back by reading.
type parts struct {
	w        http.ResponseWriter
	call     *call
	most     time.Duration
	patience time.Duration // what is left of most
	begun    bool
	failed   bool // it could not be written
}

func (p *parts) Write(b []byte) (int, error) {
	p.begun = true
	p.call.pause()
	defer p.call.extend(p.call.limit)
	now := time.Now()
	_ = p.call.control.SetWriteDeadline(now.Add(p.patience))
	n, err := p.w.Write(b)
	p.patience = min(p.most, p.patience-time.Since(now)+time.Duration(n)*time.Second/leastRate)
	p.failed = err != nil
	return n, err
}
