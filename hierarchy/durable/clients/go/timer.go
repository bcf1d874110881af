package epicycle

import (
	"encoding/json"
	"time"
)

// Target is where a timer is delivered when it is due: exactly one of Webhook, Subject and Queue is set. Method,
// Headers and Secret are for webhooks.
type Target struct {
	Webhook string            `json:"webhook,omitempty"` // a URL
	Subject string            `json:"subject,omitempty"` // of NATS
	Queue   string            `json:"queue,omitempty"`   // from which it is taken
	Method  string            `json:"method,omitempty"`  // POST by default
	Headers map[string]string `json:"headers,omitempty"`
	Secret  string            `json:"secret,omitempty"` // the name of the key of the signature
	// Timeout and Retry are of each timer with this Target. The Setting must then have none. Timers in answers have them
	// beside their Target.
	Timeout Duration `json:"timeout,omitzero"`
	Retry   *Retry   `json:"retry,omitempty"`
}

// Webhook returns the target of timers that are sent to a URL.
func Webhook(url string) Target { return Target{Webhook: url} }

// Queue returns the target of timers that workers take.
func Queue(name string) Target { return Target{Queue: name} }

// Subject returns the target of timers that are messages of NATS.
func Subject(name string) Target { return Target{Subject: name} }

// Duration is a time.Duration that is text in JSON, such as "1m30s".
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

func (d Duration) String() string { return time.Duration(d).String() }

// Retry is how often a timer is attempted, and how long it waits between two attempts.
type Retry struct {
	Attempts int      `json:"attempts,omitempty"`
	Backoff  Duration `json:"backoff,omitzero"`
	Most     Duration `json:"most,omitzero"`
}

// Debounce makes a timer due some time after the last of several calls, but not later than some time after the first.
type Debounce struct {
	Quiet   Duration `json:"quiet,omitzero"`
	Longest Duration `json:"longest,omitzero"`
}

// Timer is a timer in answers.
type Timer struct {
	Key         string          `json:"key"`
	Value       json.RawMessage `json:"value"`
	ValueText   string          `json:"value_text,omitempty"` // the value, if it can't be in JSON
	To          Target          `json:"to"`
	Timeout     Duration        `json:"timeout"` // of an attempt
	Retry       *Retry          `json:"retry,omitempty"`
	Due         time.Time       `json:"due"`
	ID          string          `json:"id"`      // the same at each attempt, and never that of another timer
	Attempt     int             `json:"attempt"` // how many have begun
	State       string          `json:"state"`   // waiting, running or dead
	Schedule    string          `json:"schedule,omitempty"`
	Paused      bool            `json:"paused,omitempty"`       // the schedule is paused: no attempt begins
	LimitedBy   string          `json:"limited_by,omitempty"`   // the limit because of which it waits, although it is due
	LastError   string          `json:"last_error,omitempty"`   // why the last attempt that has failed did so
	LastErrorAt time.Time       `json:"last_error_at,omitzero"` // when it did
	Next        time.Time       `json:"next,omitzero"`          // when the next attempt is due, after one that has failed
	Attempts    []Attempt       `json:"attempts,omitempty"`     // the last ones, newest first
}

// Decode decodes the value of the timer.
func (t *Timer) Decode(v any) error { return json.Unmarshal(t.Value, v) }

// Attempt is an attempt that has ended.
type Attempt struct {
	At     time.Time `json:"at"`
	Took   Duration  `json:"took"`
	Status int       `json:"status,omitempty"` // of the webhook's response
	Error  string    `json:"error,omitempty"`
}

// If is the condition of a request that sets a timer.
type If string

// A timer is set only if its key has none, or if it is due sooner or later than the one that is there.
const (
	Absent If = "absent"
	Sooner If = "sooner"
	Later  If = "later"
)

// Setting is what a timer is set to. It is due at a time if Schedule, Debounce, At or In says so, in this order: without
// any of them, now.
type Setting struct {
	Value    any
	To       Target
	In       time.Duration
	At       time.Time
	Schedule string // such as "@every 90s" or "CRON_TZ=Europe/Berlin 30 2 * * *"
	// These go with Schedule: each run is later by a time within Spread, which the key determines; no run is before From, or
	// after Until.
	Spread      time.Duration
	From, Until time.Time
	Debounce    *Debounce
	Timeout     time.Duration // of an attempt; 30 seconds by default
	Retry       *Retry
	If          If
}

// body is a Setting in a request.
type body struct {
	Op       string    `json:"op,omitempty"`
	Key      string    `json:"key,omitempty"`
	If       If        `json:"if,omitempty"`
	In       string    `json:"in,omitempty"`
	At       time.Time `json:"at,omitzero"`
	Schedule string    `json:"schedule,omitempty"`
	Spread   Duration  `json:"spread,omitzero"`
	From     time.Time `json:"from,omitzero"`
	Until    time.Time `json:"until,omitzero"`
	Debounce *Debounce `json:"debounce,omitempty"`
	Value    any       `json:"value,omitempty"`
	To       *Target   `json:"to,omitempty"`
	Timeout  Duration  `json:"timeout,omitzero"`
	Retry    *Retry    `json:"retry,omitempty"`
}

func (s *Setting) body() (b body) {
	b = body{Value: s.Value, To: &s.To, Timeout: Duration(s.Timeout), Retry: s.Retry}
	switch {
	case s.Schedule != "":
		b.Schedule, b.Spread, b.From, b.Until = s.Schedule, Duration(s.Spread), s.From, s.Until
	case s.Debounce != nil:
		b.Debounce = s.Debounce
	default:
		b.setTime(s.In, s.At)
	}
	return b
}

func (b *body) setTime(in time.Duration, at time.Time) {
	if b.At = at; at.IsZero() {
		b.In = in.String()
	}
}
