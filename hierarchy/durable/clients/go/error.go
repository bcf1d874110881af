package epicycle

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Error is an answer that is an error, with the fields of its application/problem+json.
type Error struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"` // the HTTP status
	Detail string `json:"detail"` // what is wrong
	// Timer is the timer that is there, if the condition of a request was not met.
	Timer *Timer `json:"timer,omitempty"`
	// Imported is how many timers were imported before the error of an import.
	Imported *int `json:"imported,omitempty"`
	// RetryAfter is the time to wait before the request is repeated, if the server says so.
	RetryAfter time.Duration `json:"-"`
	// Body is the JSON of the answer, with fields that this package does not know. It is nil if the answer is none of this
	// server's.
	Body json.RawMessage `json:"-"`
}

func (e *Error) Error() string { return e.Detail }

// maxProblem is the largest number of bytes that are read of an answer with an error.
const maxProblem = 1 << 20

func problem(resp *http.Response) error {
	e := new(Error)
	b, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if json.Unmarshal(b, e) != nil || e.Status == 0 {
		e, b = &Error{Status: resp.StatusCode, Detail: "the server answered " + resp.Status}, nil
	}
	e.Body = b
	e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"))
	return e
}

// maxRetryAfter limits how long a client waits because of a server, or of a proxy before it.
const maxRetryAfter = time.Minute

func retryAfter(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return min(time.Duration(min(n, int(maxRetryAfter/time.Second)))*time.Second, maxRetryAfter)
}

// hasStatus reports whether an error is an answer with a status, and returns it.
func hasStatus(err error, status int) (*Error, bool) {
	e, ok := errors.AsType[*Error](err)
	return e, ok && e.Status == status
}

// bare removes the method and the URL from an error.
func bare(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		return of.Err
	}
	return err
}
