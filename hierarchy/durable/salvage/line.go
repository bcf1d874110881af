package main

import (
	"fmt"
	"io"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/lines"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/salvage"
)

// line is a timer as it is written. Keyed.Import reads it, and ignores what is not in lines.Timer.
type line struct {
	Name      string `json:"name"`
	Partition int    `json:"partition"`
	lines.Timer
	Uncertain bool `json:"uncertain,omitempty"`
}

// writeTimers writes the timers of a log.
func writeTimers(w io.Writer, l *salvage.Log) error {
	enc := lines.NewEncoder(w)
	for _, t := range l.Timers {
		line := line{Name: l.Name, Partition: l.Partition, Timer: lineOf(t), Uncertain: t.Uncertain}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

func lineOf(t *salvage.Timer) lines.Timer {
	l := lines.Timer{
		Due: time.Unix(0, t.Due).UTC(), WallTime: t.Wall, Attempts: t.Attempts, State: lines.Waiting,
		ID:       fmt.Sprintf("%016x%016x", t.ID.Owner, t.ID.Number),
		Schedule: t.Schedule, Missed: t.Missed, Started: t.Started, Trace: t.Trace,
	}
	l.SetKey(t.Key)
	l.SetValue(t.Value)
	if t.Dead {
		died := time.Unix(0, t.Died).UTC()
		l.State, l.Died = lines.Dead, &died
		l.SetError(t.LastError)
	}
	return l
}
