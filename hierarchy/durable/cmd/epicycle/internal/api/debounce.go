package api

import (
	"errors"
	"fmt"
	"time"
)

// Debounce is when a timer is due that each further request for its key moves.
type Debounce struct {
	Quiet   string `json:"quiet" doc:"A duration: the timer is due so long after the last request" example:"5s"`
	Longest string `json:"longest" doc:"A duration: it is due so long after the first request at the latest" example:"1m"`
}

// debounce is the parsed form of Debounce.
type debounce struct{ quiet, longest time.Duration }

var errDebounce = errors.New("debounce: there must be quiet and longest, such as 5s and 1m, and longest is not 0")

func (d *Debounce) parse() (*debounce, error) {
	if d.Quiet == "" || d.Longest == "" {
		return nil, errDebounce
	}
	quiet, err := parseIn(d.Quiet)
	if err != nil {
		return nil, fmt.Errorf("debounce: quiet: %w", err)
	}
	longest, err := parseIn(d.Longest)
	switch {
	case err != nil:
		return nil, fmt.Errorf("debounce: longest: %w", err)
	case longest == 0:
		return nil, errDebounce
	}
	return &debounce{quiet, longest}, nil
}
