// Package view shows a live page of a wheel in the browser: its circles and hands, the
// timers in each slot, timers cascading from circle to circle, counters, rates, and how
// late timers are. Mount it as you mount net/http/pprof:
//
//	http.Handle("/debug/wheel/", view.Handler(w))
//
// The handler works under any path, with or without http.StripPrefix, and behind other routers and proxies. It uses
// only the last element of the path, and the page only requests relative URLs. The path of the page ends in a slash. A
// request without the slash is redirected, if the router passes it on. Index lists several wheels on one page:
//
//	http.Handle("/debug/wheels/", view.Index(map[string]view.Source{"sessions": s, "retries": r}))
//
// # Who can see the page
//
// As with pprof, anyone who can reach the page sees the figures of the process: serve it only on an address that only
// you can reach. The page shows numbers of timers, but no callbacks and no values. It shows keys of a Keyed only with
// the option Keys, since keys may be secret, such as session tokens. A request that finds keys by a text has the text
// in its query, which proxies may log.
//
// The handler answers requests for localhost, for names below localhost and for IP addresses, with any port. A request
// for any other host name gets status 403, unless Hosts allows the name. Otherwise the owner of a name could point it
// at your machine while you have a page of that name open, and the browser would let that page read this one (DNS
// rebinding). This is not possible with an IP address, so http://10.1.2.3:6060/debug/wheel/ needs no permission. A
// proxy that passes on the host name of its requests needs permission for that name; a proxy that connects by IP
// address or as localhost does not. X-Forwarded-Host and similar headers are ignored.
//
// Each page is one document that loads nothing from other servers. Its
// Content-Security-Policy allows no other script.
//
// # What is served
//
//	(nothing)   the page
//	json        a snapshot
//	events      snapshots as server-sent events, one at once and then one every
//	            second, or as often as ?every=250ms says, from 100ms to 10s
//	keys        only with the option Keys: the next keys that are due, at most 20. With
//	            ?find=text, the keys with that text, or else the keys that contain it.
//
// Methods other than GET and HEAD get status 405. An Index serves the list of wheels at
// these paths. With the query ?wheel=name, it serves what a Handler of that wheel serves,
// or status 404 if it has no wheel of that name.
//
// # Cost
//
// The package runs nothing while no request is being answered: no goroutine, no timer and no snapshot. A stream ends
// with its request. A snapshot calls the wheel's Stats and Circles, which do not iterate over timers. That takes some
// 12 µs, and encoding the snapshot takes the same time again. The list of an Index only calls the Stats of each wheel.
// Streams share snapshots: a snapshot not older than half a stream's interval is sent again. The figures of the last
// minute, which take at most some eighty kilobytes per wheel, are kept until the next request. A client that reads
// nothing for ten seconds is disconnected. The page closes its stream while it is paused or not visible.
//
// A request for keys goes through all keys of the wheel with Keyed.All, which does not hold up other callers. It ends
// with the request's context. For each Keys, one request at a time goes through the keys, and other requests wait. The
// last answer is also sent to requests with the same query within a second. The page asks for keys only while its panel
// of keys is open, three seconds after each answer.
//
// A stream is an active request for http.Server.Shutdown, which waits for it, forever if the page stays open. Cancel
// the context of such requests first. docs/watching.md shows how. Server.Close does not
// wait.
//
// # Snapshots
//
// A snapshot is one JSON object. Durations are integers in nanoseconds, and their names end
// in _ns.
//
//	time          wall-clock time at which it was taken, RFC 3339
//	taken_ns      the same in monotonic time since Handler was called, to compute rates
//	elapsed_ns    elapsed time on the wheel's clock, which the hands show
//	closed        whether the wheel was stopped
//	pending, queued, running, scheduled, fired, stopped, drained, dropped,
//	moved, cascaded, wakeups, panics, skipped
//	              the fields of hierarchy.Stats
//	lateness      hierarchy.Stats.Lateness:
//	    count, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns
//	    buckets   the buckets that are not empty, shortest first:
//	        up_to_ns  longest duration in the bucket, a power of two less one;
//	                  the shortest is above half of that
//	        count
//	recent_lateness
//	              lateness of the timers dispatched in the last minute, or since the
//	              first snapshot in that minute: the difference of two Histograms
//	    span_ns   length of that time; 0, and nothing is counted, if there was no
//	              earlier snapshot in it
//	    count, p50_ns, p90_ns, p99_ns, p999_ns, max_ns
//	              durations are at most an eighth too long
//	    buckets
//	waited, recent_waited
//	              hierarchy.Stats.Waited, as lateness and recent_lateness
//	circles       hierarchy.Wheel.Circles, finest first:
//	    width_ns  of one slot
//	    base      whether it is the base circle
//	    hand      slot under the hand
//	    timers    in all slots
//	    slots     timers in each slot
//
//	logs          only of a LogSource: view.Log of each log:
//	    owner     text of the member that owns it, if there are members and one does
//	    error     why it can't be used, if it can't; all figures are 0 then
//	    pending, running, stuck, dead, failed, frames, bytes, disk_bytes, live_bytes
//	    commit    as lateness, without buckets
//	members       only of a MemberSource whose logs are shared: view.Member of each process:
//	    text, partitions
//	    self, leaving
//	              true, or absent
//
// The counters of a snapshot are read at one time, and its circles at another. A busy wheel may change in between.
//
// The snapshot of an Index is
//
//	time, taken_ns
//	wheels        in the order of their names:
//	    name
//	    closed and all later fields of a snapshot of one wheel, without buckets and
//	    circles
//
// # Keys
//
// The answer to a request for keys is one JSON object.
//
//	time          wall-clock time at which the keys had been read, RFC 3339
//	find          the text to find, if any
//	keys          the keys with the nearest deadlines, in the order of these:
//	    key       its text, as the format function of Keys returns it
//	    remaining_ns
//	              the time until it is due, on the wheel's clock; null if the key has gone
//	              since it was read
//	    note      only of ListedKeys, and only if remaining_ns is null
//	more          whether there are more keys, or more with that text
//	states, state only of ListedKeys: all states, and the state that was chosen
package view
