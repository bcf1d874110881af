// Package view shows durable timers on the live page of package hierarchy/view, with the figures of their logs next to
// the wheel:
//
//	http.Handle("/debug/timers/", view.Handler(timers))
//
// The documentation of hierarchy/view describes who can see the page and what the page costs. That applies to this
// page, too. The page shows keys only with the option Keys, and never shows values. With durable.Config.Conn it shows
// the processes that share the timers, by host and process ID, and which of them owns which log.
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

// Timers are the timers to show: a *durable.Keyed.
type Timers interface {
	Stats() durable.Stats
	Circles() []hierarchy.CircleStats
}

// Handler returns a handler for a page that shows timers, and for its figures. It calls Handler of package
// hierarchy/view, and has the same options.
func Handler(timers Timers, opts ...view.Option) http.Handler {
	return view.Handler(Source(timers), opts...)
}

// Source makes timers one of the sources for Index of package hierarchy/view.
func Source(timers Timers) view.MemberSource {
	if v := reflect.ValueOf(timers); timers == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		panic("view: Source was given nil instead of timers")
	}
	return source{timers}
}

// source is comparable, so that Keys finds it in an Index.
type source struct{ Timers }

// Stats returns those figures of durable timers that wheels also have.
func (s source) Stats() hierarchy.Stats {
	st := s.Timers.Stats()
	return hierarchy.Stats{
		Pending: st.Pending, Running: st.Running,
		Scheduled: st.Set, Fired: st.Fired, Stopped: st.Removed, Moved: st.Moved,
		Lateness: st.Lateness,
	}
}

// Logs returns a log for each partition.
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
