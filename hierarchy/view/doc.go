// Package view shows a wheel at work on a page in the browser: its circles and
// hands, what is in each slot, timers cascading from circle to circle, counters,
// rates, and how late timers are. It is mounted as net/http/pprof is:
//
//	http.Handle("/debug/wheel/", view.Handler(w))
//
// and works under any path, with http.StripPrefix or without, behind other
// routers and proxies: it looks at the last part of the path alone, and the page
// asks only for what lies beside it. The path of the page ends in a slash; where
// a router lets one without pass, the answer sends there. Several wheels have a page
// that lists them, in one place:
//
//	http.Handle("/debug/wheels/", view.Index(map[string]view.Source{"sessions": s, "retries": r}))
//
// # Who may look
//
// As with pprof, whoever reaches the page sees the figures of the process: keep it on
// an address that only you reach. It shows numbers of timers, never what they are for.
//
// It answers to requests for localhost, names below localhost, and IP addresses, with
// any port. Any other name is answered with 403, unless Hosts allows it: its owner can
// have it lead to your machine while a page of his is open in your browser, which
// then lets his page read this one (DNS rebinding). That can't be done with an
// address, so http://10.1.2.3:6060/debug/wheel/ needs no permission. A proxy that
// passes on the name by which it was asked does; one that asks under the address, or
// as localhost, does not. X-Forwarded-Host and the like do not count.
//
// Each page is one document without anything from elsewhere, under a
// Content-Security-Policy that allows no other script.
//
// # What is served
//
//	(nothing)   the page
//	json        a snapshot
//	events      snapshots as server-sent events, one at once and then one every
//	            second, or as often as ?every=250ms says, from 100ms to 10s
//
// GET and HEAD are answered, other methods with 405. Of an Index these are the list of
// wheels, and with ?wheel= and a name the same of that wheel as of a Handler; 404 if
// there is none of that name.
//
// # Cost
//
// Nobody looks, nothing runs: there is no goroutine, no timer and no snapshot but
// for requests being answered, and a stream ends with its request. A snapshot
// takes the wheel's Stats and Circles, without a walk over timers: some 12 µs, and
// as long again to write it down. The list of an Index takes each wheel's Stats
// alone. Streams share them: one that is not older than half a stream's interval is
// sent again. What is remembered of the last minute stays until somebody looks the
// next time: at most some forty kilobytes a wheel. A client that reads nothing for ten
// seconds is let go. The page closes its stream while it is paused, or hidden behind
// others.
//
// A stream counts as an active request for http.Server.Shutdown, which waits for
// it, for ever if somebody looks on. End the context of such requests first: the
// recipe "Watching a wheel" in docs/recipes.md has code that does. Server.Close does not
// wait.
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
//	moved, cascaded, wakeups, panics, skipped
//	              the fields of hierarchy.Stats
//	lateness      hierarchy.Stats.Lateness:
//	    count, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns
//	    buckets   those that are not empty, shortest first:
//	        up_to_ns  longest duration it can hold, a power of two less one;
//	                  the shortest is above half of that
//	        count
//	recent_lateness
//	              the same of what was handed over in the last minute, or since the
//	              first snapshot in it: what two Histograms differ by
//	    span_ns   how long that is: 0, and nothing is counted, if there was none
//	    count, p50_ns, p90_ns, p99_ns, p999_ns, max_ns
//	              durations are at most an eighth too long
//	    buckets
//	circles       hierarchy.Wheel.Circles, finest first:
//	    width_ns  of one slot
//	    base      whether it is the base circle
//	    hand      slot under the hand
//	    timers    in all slots
//	    slots     timers in each slot
//
// The counters of one snapshot are of one moment, and so are its circles, but a
// busy wheel goes on between the two.
//
// That of an Index is
//
//	time, taken_ns
//	wheels        in the order of their names:
//	    name
//	    pending and all that comes after it in a snapshot of one wheel, without
//	    buckets and circles
package view
