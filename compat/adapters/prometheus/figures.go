package prometheus

import "github.com/epicycle-go/epicycle/hierarchy"

// row is a metric: its name after epicycle_wheel_, its help, and its value.
type row[V any] struct {
	name, help string
	value      func(*hierarchy.Stats) V
}

var gauges = []row[int]{
	{"timers_pending", "Timers that wait for their deadlines.",
		func(st *hierarchy.Stats) int { return st.Pending }},
	{"callbacks_queued", "Callbacks that the executor has not started yet.",
		func(st *hierarchy.Stats) int { return st.Queued }},
	{"callbacks_running", "Callbacks that run.",
		func(st *hierarchy.Stats) int { return st.Running }},
	{"stopped", "Whether the wheel was stopped: 0 or 1.",
		func(st *hierarchy.Stats) int { return oneIf(st.Closed) }},
}

var counters = []row[uint64]{
	{"timers_scheduled_total", "Timers set. Each run of a Repeater counts as one.",
		func(st *hierarchy.Stats) uint64 { return st.Scheduled }},
	{"timers_fired_total", "Timers whose callbacks were dispatched.",
		func(st *hierarchy.Stats) uint64 { return st.Fired }},
	{"timers_stopped_total", "Timers that Stop or Remove stopped.",
		func(st *hierarchy.Stats) uint64 { return st.Stopped }},
	{"timers_drained_total", "Timers that Drain took out.",
		func(st *hierarchy.Stats) uint64 { return st.Drained }},
	{"timers_dropped_total", "Timers that were pending when the wheel was stopped.",
		func(st *hierarchy.Stats) uint64 { return st.Dropped }},
	{"timers_moved_total", "New deadlines of pending timers, also for touched Idles.",
		func(st *hierarchy.Stats) uint64 { return st.Moved }},
	{"timers_cascaded_total", "Moves of timers from a circle to a finer one.",
		func(st *hierarchy.Stats) uint64 { return st.Cascaded }},
	{"wakeups_total", "Times that the wheel woke up, or stayed awake for the next time.",
		func(st *hierarchy.Stats) uint64 { return st.Wakeups }},
	{"panics_total", "Panics in callbacks that were passed to OnPanic.",
		func(st *hierarchy.Stats) uint64 { return st.Panics }},
	{"runs_skipped_total", "Runs that repeaters and tickers missed.",
		func(st *hierarchy.Stats) uint64 { return st.Skipped }},
}

var distributions = []row[hierarchy.Histogram]{
	{"lateness_seconds", "Time from a timer's deadline until its callback was dispatched.",
		func(st *hierarchy.Stats) hierarchy.Histogram { return st.Lateness }},
	{"callback_wait_seconds", "Time from dispatch until the callback began, with a Pool or an Executor of one's own.",
		func(st *hierarchy.Stats) hierarchy.Histogram { return st.Waited }},
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
