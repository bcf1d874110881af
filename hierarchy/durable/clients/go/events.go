package epicycle

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Event is what has happened to a timer.
type Event struct {
	Kind    string    `json:"event"` // set, moved, removed, paused, resumed, begun, done, failed, dead, or missed
	At      time.Time `json:"at"`
	Key     string    `json:"key,omitempty"`
	ID      string    `json:"id,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Error   string    `json:"error,omitempty"` // why the attempt has failed
	// Missed is how many events this reader has missed, since it reads too slowly, if Kind is EventMissed.
	Missed int `json:"missed,omitempty"`
}

// EventMissed is the kind of an event that tells how many others this reader has missed.
const EventMissed = "missed"

// ErrEventsEnded is the error with which Events ends if the server, or a proxy before it, ends the stream.
var ErrEventsEnded = errors.New("the server has ended the stream of events: it shuts down, or a proxy has cut it")

// maxEvent is the largest size of a line of an event.
const maxEvent = 64 << 10

// Events iterates over what happens to timers whose keys begin with a prefix, as it happens, at all servers, until ctx is
// done. It ends after an error, and does not begin again by itself: whoever follows timers then looks at them first, as
// what has happened meanwhile is not told.
func (c *Client) Events(ctx context.Context, prefix string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		resp, err := c.Open(ctx, http.MethodGet, "/v1/events?"+url.Values{"prefix": {prefix}}.Encode(), nil)
		if err == nil {
			defer resp.Body.Close()
			var going bool
			if going, err = events(resp.Body, yield); !going {
				return
			}
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		yield(Event{}, err)
	}
}

// events yields the events of a stream. It reports whether more are wanted, and why there are no more.
func events(stream io.Reader, yield func(Event, error) bool) (going bool, err error) {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		var e Event
		if err := json.Unmarshal(data, &e); err != nil {
			return true, err
		}
		if !yield(e, nil) {
			return false, nil
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return true, err
	}
	return true, ErrEventsEnded
}
