// Package view shows durable timers on the live page of package hierarchy/view, with the figures of
// their logs beside the wheel:
//
//	http.Handle("/debug/timers/", view.Handler(timers))
//
// The documentation of hierarchy/view about who can see the page, and what it costs, applies to this one. It shows keys
// with the option Keys only, and never values. With durable.Config.Conn it shows the processes that share the timers, by
// host and process ID, and which of them owns which log.
package view

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/view"
)

// Timers are those to show: a *durable.Keyed.
type Timers interface {
	Stats() durable.Stats
	Circles() []hierarchy.CircleStats
}

// Handler returns a handler for a page that shows timers, and for its figures. It is Handler of
// package hierarchy/view, and has its options.
func Handler(timers Timers, opts ...view.Option) http.Handler {
	return view.Handler(Source(timers), opts...)
}

// Source makes timers one of the wheels that Index of package hierarchy/view lists.
func Source(timers Timers) view.MemberSource {
	if v := reflect.ValueOf(timers); timers == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		panic("view: Source was given nil instead of timers")
	}
	return source{timers}
}

// source is comparable, so that Keys finds it in an Index.
type source struct{ Timers }

// Stats has those figures of durable timers that wheels have as well.
func (s source) Stats() hierarchy.Stats {
	st := s.Timers.Stats()
	return hierarchy.Stats{
		Pending: st.Pending, Running: st.Running,
		Scheduled: st.Set, Fired: st.Fired, Stopped: st.Removed, Moved: st.Moved,
		Lateness: st.Lateness,
	}
}

// Logs has a log for each partition.
func (s source) Logs() []view.Log {
	partitions := s.Timers.Stats().Partitions
	logs := make([]view.Log, len(partitions))
	for i, p := range partitions {
		logs[i] = view.Log{
			Owner: p.Owner,
			Err:   p.Err, Pending: p.Pending, Running: p.Running, Stuck: p.Stuck, Dead: p.Dead,
			Failed: p.Failed, Frames: p.Frames, Bytes: p.Bytes,
			DiskBytes: p.LogBytes, LiveBytes: p.LiveBytes, Commit: p.Commit,
		}
	}
	return logs
}

// Members returns the processes that share the partitions, with durable.Config.Conn.
func (s source) Members() (all []view.Member) {
	for _, m := range s.Timers.Stats().Members {
		all = append(all, view.Member{Text: m.Text, Partitions: m.Owned, Self: m.Self, Leaving: m.Leaving})
	}
	slices.SortStableFunc(all, func(a, b view.Member) int { return strings.Compare(a.Text, b.Text) }) // by host
	return all
}
