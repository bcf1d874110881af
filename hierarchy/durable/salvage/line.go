package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/salvage"
)

// line is a timer as it is written. Of key and value, one of two fields is there.
type line struct {
	Name        string    `json:"name"`
	Partition   int       `json:"partition"`
	Key         *string   `json:"key,omitempty"`
	KeyBase64   *[]byte   `json:"key_base64,omitempty"`
	Value       *string   `json:"value,omitempty"`
	ValueBase64 *[]byte   `json:"value_base64,omitempty"`
	Due         time.Time `json:"due"`
	WallTime    bool      `json:"wall_time,omitempty"`
	Attempts    uint32    `json:"attempts,omitempty"`
	Dead        bool      `json:"dead,omitempty"`
	Died        time.Time `json:"died,omitzero"`
	LastError   string    `json:"last_error,omitempty"`
	Schedule    string    `json:"schedule,omitempty"`
	Missed      uint32    `json:"missed,omitempty"`
	ID          string    `json:"id"`
	Uncertain   bool      `json:"uncertain,omitempty"`
}

// writeTimers writes the timers of a log.
func writeTimers(w io.Writer, l *salvage.Log) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, t := range l.Timers {
		line := line{
			Name: l.Name, Partition: l.Partition, Due: time.Unix(0, t.Due).UTC(), WallTime: t.Wall,
			Attempts: t.Attempts, Dead: t.Dead, ID: fmt.Sprintf("%016x%016x", t.ID.Owner, t.ID.Number),
			LastError: t.LastError, Schedule: t.Schedule, Missed: t.Missed, Uncertain: t.Uncertain,
		}
		if t.Dead {
			line.Died = time.Unix(0, t.Died).UTC()
		}
		line.Key, line.KeyBase64 = text(t.Key)
		line.Value, line.ValueBase64 = text(t.Value)
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// text is b as a string if it is text, else as bytes.
func text(b []byte) (*string, *[]byte) {
	if !utf8.Valid(b) {
		return nil, &b
	}
	s := string(b)
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return nil, &b
		}
	}
	return &s, nil
}
