// Package view shows a wheel at work on a page in the browser: its circles and
// hands, what is in each slot, timers cascading from circle to circle, counters,
// rates, and how late timers are. It is mounted as net/http/pprof is:
//
//	http.Handle("/debug/wheel/", view.Handler(w))
//
// and works under any path, with http.StripPrefix or without, behind other
// routers and proxies: it looks at the last part of the path alone, and the page
// asks only for what lies beside it. The path of the page ends in a slash; where
// a router lets one without pass, the answer sends there.
//
// The page is one document without anything from elsewhere, under a
// Content-Security-Policy that allows no other script. As with pprof, whoever
// reaches it sees the figures of the process: keep it on an address that only
// you reach. It shows numbers of timers, never what they are for.
//
// # What is served
//
//	(nothing)   the page
//	json        a snapshot
//	events      snapshots as server-sent events, one at once and then one every
//	            second, or as often as ?every=250ms says, from 100ms to 10s
//
// GET and HEAD are answered, other methods with 405.
//
// # Cost
//
// Nobody looks, nothing runs: there is no goroutine, no timer and no snapshot but
// for requests being answered, and a stream ends with its request. A snapshot
// takes the wheel's Stats and Circles, without a walk over timers: some 3 µs, and
// 12 more to write it down, with 100,000 timers. Streams share them: one that is
// not older than half a stream's interval is sent again. A client that reads
// nothing for ten seconds is let go. The page closes its stream while it is paused,
// or hidden behind others.
//
// A stream counts as an active request for http.Server.Shutdown, which waits for
// it: end the context of requests before (http.Server.BaseContext), or use Close.
//
// # Snapshots
//
// A snapshot is one JSON object. Durations are integers of nanoseconds and their
// names end in _ns.
//
//	time          wall-clock time at which it was taken, RFC 3339
//	taken_ns      the same on a clock that never jumps, for rates: since Handler was called
//	elapsed_ns    what the hands show: elapsed time on the wheel's clock
//	pending, queued, running, scheduled, fired, stopped, drained, dropped,
//	moved, cascaded, wakeups, panics
//	              the fields of hierarchy.Stats
//	lateness      hierarchy.Stats.Lateness:
//	    count, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns
//	    buckets   those that are not empty, shortest first:
//	        up_to_ns  longest duration it can hold, a power of two less one;
//	                  the shortest is above half of that
//	        count
//	circles       hierarchy.Wheel.Circles, finest first:
//	    width_ns  of one slot
//	    base      whether it is the base circle
//	    hand      slot under the hand
//	    timers    in all slots
//	    slots     timers in each slot
//
// The counters of one snapshot are of one moment, and so are its circles, but a
// busy wheel goes on between the two.
package view
