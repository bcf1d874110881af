package wakeup

import "time"

// lead is the time by which the timerfd is aimed before an alarm's time, to make up for the latency of the wake-up. It
// is a low quantile of recent latencies, so the waiter seldom wakes before the alarm's time, and then has only a short
// time to spin.
type lead struct{ d time.Duration }

const (
	// leadShare sets the quantile: one wake-up in leadShare takes less than the lead.
	leadShare = 4
	// longestLead is the limit of the lead. Spinning after an early wake-up should cost
	// less than the wake-up itself.
	longestLead = 100 * time.Microsecond
)

// learn adjusts the lead to the latency of one wake-up. The lead is stable if one latency in four is shorter than the
// lead: three longer latencies add as much as one shorter latency subtracts.
func (l *lead) learn(took time.Duration) {
	step := max(l.d/16, 500*time.Nanosecond)
	if took < l.d {
		l.d -= step * (leadShare - 1)
	} else {
		l.d += step
	}
	l.d = min(max(0, l.d), longestLead)
}

// overload reports whether the process is too busy to poll its descriptors in time. One late wake-up shows an overload.
// The overload lasts until overloadFor wake-ups in a row were in time.
type overload struct{ left int }

const (
	// overloadedBy is the latency from which a wake-up is late. Wake-ups of an idle process
	// do not take this long.
	overloadedBy = 300 * time.Microsecond
	// overloadFor is the number of wake-ups in a row, all in time, that end the overload.
	overloadFor = 64
)

func (o *overload) lasts() bool { return o.left > 0 }
func (o *overload) renew()      { o.left = overloadFor }
func (o *overload) ease()       { o.left = max(0, o.left-1) }
