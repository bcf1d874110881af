// Package api is the HTTP interface of the service.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
)

// Problem is an error as RFC 9457 specifies it.
type Problem struct {
	Type   string `json:"type" doc:"about:blank: the status says it all"`
	Title  string `json:"title" doc:"The text of the status"`
	Status int    `json:"status" doc:"The HTTP status"`
	Detail string `json:"detail" doc:"What is wrong"`
	Timer  *Timer `json:"timer,omitempty" doc:"With 409: the timer that is there"`
	// Imported is a pointer, so that 0 is not omitted.
	Imported *int `json:"imported,omitempty" doc:"Of an import that has failed: how many timers were imported"`

	retryAfter int // the header Retry-After, in seconds
}

func (p *Problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header {
	h := make(http.Header)
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	return h
}

func problem(status int, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: shorten(detail, maxDetail)}
}

// maxDetail limits the text of an error, which may quote what the client has sent.
const maxDetail = 1 << 10

// shorten returns the beginning of a text, of no more than some bytes.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// detailOf returns the text for an error of one of many operations.
func detailOf(err error) string { return failure(err).Detail }

func bad(err error) *Problem { return problem(http.StatusBadRequest, err.Error()) }

// write answers with the problem, outside of huma.
func (p *Problem) write(w http.ResponseWriter) {
	h := w.Header()
	for name, values := range p.GetHeaders() {
		h[name] = values
	}
	h.Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// retryTime is the Retry-After of 429 and 503, in seconds.
const retryTime = 1

// failure returns the problem for an error of package durable.
func failure(err error) *Problem {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return p
	// An import can have errors of several kinds: after this one it can be done again.
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		p = problem(http.StatusServiceUnavailable, "the timers did not answer in time"+mayHold)
	case errors.Is(err, durable.ErrUnavailable), errors.Is(err, limits.ErrUnkept), errors.Is(err, durable.ErrDamaged), errors.Is(err, durable.ErrClosed):
		p = problem(http.StatusServiceUnavailable, shorten(err.Error(), maxDetail-len(mayHold))+mayHold)
	case errors.Is(err, durable.ErrArgument), errors.Is(err, durable.ErrIncomplete):
		return bad(err)
	case errors.Is(err, durable.ErrTooLarge):
		return problem(http.StatusRequestEntityTooLarge, err.Error())
	case errors.Is(err, durable.ErrFull):
		p = problem(http.StatusTooManyRequests, err.Error())
	default:
		return problem(http.StatusInternalServerError, err.Error())
	}
	p.retryAfter = retryTime
	return p
}

// mayHold is the end of the detail of 503.
const mayHold = "; a change may have taken hold: do it again"

var ourErrors sync.Once

// useProblems makes huma answer with Problems, and with 400 instead of 422.
func useProblems() {
	ourErrors.Do(func() {
		huma.NewError = func(status int, detail string, errs ...error) huma.StatusError {
			if status == http.StatusUnprocessableEntity {
				status = http.StatusBadRequest
			}
			return problem(status, strings.Join(append([]string{detail}, texts(errs)...), ": "))
		}
	})
}

// texts returns the texts of errors, without the values that huma adds.
func texts(errs []error) (all []string) {
	for _, err := range errs {
		var detail *huma.ErrorDetail
		switch {
		case err == nil:
		case errors.As(err, &detail):
			all = append(all, strings.TrimSpace(detail.Location+" "+detail.Message))
		default:
			all = append(all, err.Error())
		}
	}
	return all
}
