// Package limits has the limits of attempts: which timers are not tried for now, how many begin in a second, and how many
// are tried at once. It keeps them, and calculates when the next attempt may begin.
package limits

import (
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind is a kind of timers that a limit is for.
type Kind string

// The kinds.
const (
	Queue   Kind = "queue"   // the timers of a queue
	Host    Kind = "host"    // the webhooks of a host, at all its ports, or at the one in its name
	Subject Kind = "subject" // the messages of a subject
	Prefix  Kind = "prefix"  // all timers whose keys begin with it
)

// Kinds are all kinds.
var Kinds = []Kind{Queue, Host, Subject, Prefix}

// Scope is what a limit is for.
type Scope struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
}

func (s Scope) String() string { return string(s.Kind) + " " + s.Name }

const maxName = 1024

// Parse returns the scope with a name, in the form in which equal ones are equal.
func Parse(kind, name string) (Scope, error) {
	s := Scope{Kind(kind), name}
	switch {
	case name == "":
		return s, errors.New("the name is empty")
	case len(name) > maxName:
		return s, fmt.Errorf("the name has %d bytes, of at most %d", len(name), maxName)
	case !utf8.ValidString(name):
		return s, errors.New("the name is not UTF-8")
	}
	switch s.Kind {
	case Queue, Subject, Prefix:
		return s, nil
	case Host:
		s.Name = normalised(name)
		if strings.ContainsAny(s.Name, "/@? ") {
			return s, errors.New("a host has a name or an address, and may have a port: example.com, or example.com:8443")
		}
		return s, nil
	}
	return s, fmt.Errorf("%.40q is none of queue, host, subject and prefix", kind)
}

// normalised returns a host as the URLs of webhooks have it.
func normalised(name string) string {
	name = strings.ToLower(name)
	host, port, err := net.SplitHostPort(name)
	if err != nil {
		return strings.TrimSuffix(strings.Trim(name, "[]"), ".")
	}
	return strings.TrimSuffix(host, ".") + ":" + port
}

// HostScopes returns the scopes of a host with its port, in the form of task.Target.Host.
func HostScopes(host string) []Scope {
	name, _, _ := cutLast(host, ':')
	return []Scope{{Host, host}, {Host, name}}
}

func cutLast(s string, sep byte) (before, after string, ok bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// Limit is what holds for a scope. The zero value limits nothing.
type Limit struct {
	Paused bool    `json:"paused,omitempty"`
	Rate   float64 `json:"rate,omitempty"`    // attempts that begin in a second; 0: any number
	AtOnce int     `json:"at_once,omitempty"` // attempts at once; 0: any number
}

// IsZero reports whether a limit limits nothing.
func (l Limit) IsZero() bool { return l == Limit{} }

// The bounds of a limit.
const (
	minRate   = 1.0 / (24 * 3600)
	maxRate   = 1_000_000
	maxAtOnce = 1_000_000
)

// Check returns an error if a limit is not valid.
func (l Limit) Check() error {
	switch {
	case l.Rate != 0 && !(l.Rate >= minRate && l.Rate <= maxRate):
		return fmt.Errorf("rate: %v is not between one in a day and %d in a second", l.Rate, maxRate)
	case l.AtOnce < 0 || l.AtOnce > maxAtOnce:
		return fmt.Errorf("at_once: %d is not between 0 and %d", l.AtOnce, maxAtOnce)
	}
	return nil
}

// interval returns the time between two attempts of the rate.
func (l Limit) interval() time.Duration {
	return time.Duration(math.Round(float64(time.Second) / l.Rate))
}

func (l Limit) String() string {
	var parts []string
	if l.Paused {
		parts = append(parts, "paused")
	}
	if l.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%v a second", l.Rate))
	}
	if l.AtOnce > 0 {
		parts = append(parts, fmt.Sprintf("%d at once", l.AtOnce))
	}
	return strings.Join(parts, ", ")
}
