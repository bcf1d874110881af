package metrics

import (
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// row is a metric: its name after epicycle_durable_, its help, and its value.
type row[S, V any] struct {
	name, help string
	value      func(*S) V
}

type (
	stats     = durable.Stats
	partition = durable.PartitionStats
)

// The metrics without values for single partitions.
var gauges = []row[stats, float64]{
	{"partitions", "Partitions that the timers have.",
		func(st *stats) float64 { return float64(len(st.Partitions)) }},
	{"members", "Processes that share the timers, as far as this one knows. 0 with Dir.",
		func(st *stats) float64 { return float64(len(st.Members)) }},
	{"oldest_attempt_seconds", "For how long the oldest running handler has been running.",
		func(st *stats) float64 { return st.Oldest.Seconds() }},
	{"handlers_stuck", "Handlers that have not returned after twice Timeout, and have no place under Concurrency any more.",
		func(st *stats) float64 { return float64(st.Stuck) }},
	{"clock_skew_seconds", "How far the wall clock is ahead of the time by which timers are due.",
		func(st *stats) float64 { return st.Skew.Seconds() }},
}

var counters = []row[stats, float64]{
	{"calls_unanswered_total", "Calls of owners in other processes that had no answer.",
		func(st *stats) float64 { return float64(st.Unanswered) }},
}

var distributions = []row[stats, hierarchy.Histogram]{
	{"lateness_seconds", "Time from when a timer was due until an attempt began.",
		func(st *stats) hierarchy.Histogram { return st.Lateness }},
	{"commit_seconds", "Time from sending a frame to a log until it was acknowledged.",
		func(st *stats) hierarchy.Histogram { return st.Commit }},
	{"call_seconds", "Time that owners in other processes took to answer a call.",
		func(st *stats) hierarchy.Histogram { return st.Calls }},
}

// The metrics that are summed over all partitions, and exported for each one with the option Partitions.
var partitionGauges = []row[partition, float64]{
	{"partitions_owned", "Partitions that this process owns and can write to.",
		func(p *partition) float64 { return oneIf(p.Owned) }},
	{"partitions_damaged", "Partitions whose logs are damaged, as far as this process knows.",
		func(p *partition) float64 { return oneIf(p.Err != nil) }},
	{"partitions_unavailable", "Partitions whose logs this process waits for.",
		func(p *partition) float64 { return oneIf(!p.Unavailable.IsZero()) }},
	{"timers_pending", "Timers that are not dead.",
		func(p *partition) float64 { return float64(p.Pending) }},
	{"timers_dead", "Timers that are dead: their handlers have failed too often.",
		func(p *partition) float64 { return float64(p.Dead) }},
	{"attempts_running", "Attempts in progress.",
		func(p *partition) float64 { return float64(p.Running) }},
	{"log_size_bytes", "Size of the logs on the disk, approximately.",
		func(p *partition) float64 { return float64(p.LogBytes) }},
	{"log_live_bytes", "The part of the logs that is live timers, approximately.",
		func(p *partition) float64 { return float64(p.LiveBytes) }},
}

var partitionCounters = []row[partition, float64]{
	{"timers_set_total", "Timers that were set.",
		func(p *partition) float64 { return float64(p.Set) }},
	{"timers_moved_total", "Timers that were moved.",
		func(p *partition) float64 { return float64(p.Moved) }},
	{"timers_removed_total", "Timers that were removed.",
		func(p *partition) float64 { return float64(p.Removed) }},
	{"timers_rewritten_total", "Timers that were written again, to delete old frames.",
		func(p *partition) float64 { return float64(p.Trimmed) }},
	{"attempts_total", "Attempts that began.",
		func(p *partition) float64 { return float64(p.Fired) }},
	{"attempts_failed_total", "Attempts that failed.",
		func(p *partition) float64 { return float64(p.Failed) }},
	{"timers_died_total", "Timers, and runs of schedules, whose handlers have failed too often.",
		func(p *partition) float64 { return float64(p.Died) }},
	{"timers_expired_total", "Dead timers that were removed after KeepDead.",
		func(p *partition) float64 { return float64(p.Expired) }},
	{"log_frames_total", "Frames that were written to the logs.",
		func(p *partition) float64 { return float64(p.Frames) }},
	{"log_written_bytes_total", "Bytes that were written to the logs.",
		func(p *partition) float64 { return float64(p.Bytes) }},
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
