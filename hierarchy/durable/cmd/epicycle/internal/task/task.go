// Package task defines the value of a timer of the service: JSON, the target to which the JSON is delivered when the
// timer is due, what an attempt is like, and how often it is made.
package task

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Task is the value of a timer.
type Task struct {
	Value   json.RawMessage // valid JSON
	To      Target
	Timeout time.Duration // the time limit of an attempt; positive
	Hook    Hook          // of a webhook
	Retry   Retry
}

// Kind is a kind of target.
type Kind byte

// The kinds of targets. They are in logs: never change a number.
const (
	Webhook Kind = iota + 1
	Subject
	Queue
)

// Target is where a timer is delivered when it is due.
type Target struct {
	Kind Kind
	Name string // the URL of a webhook, a subject of NATS, or the name of a queue
}

// Limits of tasks.
const (
	MaxKey         = 1 << 10
	MaxValue       = 60 << 10
	MaxTask        = 64 << 10 // what package durable allows for all of a task
	MaxDepth       = 100      // of the JSON of a request, or a line of an import
	DefaultTimeout = 30 * time.Second
	MaxTimeout     = 7 * 24 * time.Hour

	maxURL     = 2000
	maxSubject = 250
	maxQueue   = 250
)

// CheckKey returns an error if a key is not valid.
func CheckKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("the key is empty")
	case len(key) > MaxKey:
		return fmt.Errorf("the key has %d bytes, of at most %d", len(key), MaxKey)
	case !utf8.ValidString(key):
		return fmt.Errorf("the key is not UTF-8")
	}
	return nil
}

// ErrDeep is the error for JSON that is nested too deep.
var ErrDeep = fmt.Errorf("the JSON is nested more than %d deep", MaxDepth)

// CheckValue returns an error if a value, which is JSON, is not valid for a timer. A value is a part of the JSON of a
// timer, which is nested deeper by one.
func CheckValue(value []byte) error {
	switch {
	case !utf8.Valid(value):
		return fmt.Errorf("the value is not UTF-8")
	case depth(value) >= MaxDepth:
		return ErrDeep
	}
	return nil
}

// depth returns how deep JSON is nested.
func depth(text []byte) (deepest int) {
	now, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"':
			quoted = !quoted
		case quoted:
			if b == '\\' {
				i++
			}
		case b == '[' || b == '{':
			now++
			deepest = max(deepest, now)
		case b == ']' || b == '}':
			now--
		}
	}
	return deepest
}

// CheckTimeout returns an error if the timeout of an attempt is not valid.
func CheckTimeout(d time.Duration) error {
	if d < time.Millisecond || d > MaxTimeout {
		return fmt.Errorf("timeout %v is not between 1ms and %v", d, MaxTimeout)
	}
	return nil
}

// Check returns an error if a target is not valid.
func (t Target) Check() error {
	switch t.Kind {
	case Webhook:
		return checkURL(t.Name)
	case Subject:
		return checkSubject(t.Name)
	default:
		return CheckQueue(t.Name)
	}
}

func checkURL(text string) error {
	if len(text) > maxURL {
		return fmt.Errorf("the webhook's URL has %d bytes, of at most %d", len(text), maxURL)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("the webhook is no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("the webhook's URL must begin with http:// or https://")
	case u.Hostname() == "":
		return fmt.Errorf("the webhook's URL has no host")
	case u.User != nil:
		return fmt.Errorf("the webhook's URL must have no user and no password: an Authorization belongs into headers")
	case !isPort(u.Port()):
		return fmt.Errorf("the webhook's URL has the port %s, which is not between 1 and 65535", u.Port())
	}
	return nil
}

// isPort reports whether a text is a port, or empty.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}

func checkSubject(text string) error {
	if len(text) > maxSubject {
		return fmt.Errorf("the subject has %d bytes, of at most %d", len(text), maxSubject)
	}
	for token := range strings.SplitSeq(text, ".") {
		if token == "" || token == "*" || token == ">" || strings.ContainsAny(token, " \t\r\n\x00") {
			return fmt.Errorf("the subject must be words with dots between them, without wildcards and spaces")
		}
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("the subject is not UTF-8")
	}
	if strings.HasPrefix(text, "$") || strings.HasPrefix(text, "epicycle.") {
		return fmt.Errorf("subjects that begin with $ or epicycle. belong to the servers")
	}
	return nil
}

// CheckQueue returns an error if the name of a queue is not valid.
func CheckQueue(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the queue has no name")
	case len(name) > maxQueue:
		return fmt.Errorf("the queue's name has %d bytes, of at most %d", len(name), maxQueue)
	case !utf8.ValidString(name):
		return fmt.Errorf("the queue's name is not UTF-8")
	}
	return nil
}

// Host returns the host and port to which a webhook's requests are sent.
func (t Target) Host() string {
	u, err := url.Parse(t.Name)
	if err != nil {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) + ":" + port
}
