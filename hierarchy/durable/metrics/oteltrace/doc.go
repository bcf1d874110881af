// Package oteltrace traces durable timers with OpenTelemetry. It implements durable.Tracer:
//
//	durable.Config[string, Order]{Trace: oteltrace.New(), …}
//
// Each attempt is a span, in which Handle runs: spans that Handle begins with its context are children of it. An
// attempt is a trace of its own, since it may come months after the call that has set the timer, and again and again.
// It has a link to the span in whose context the timer was set, by whichever process. So in a chain of timers, each of
// which is set by the handler of the one before, the links lead back to the beginning.
//
// # What is stored
//
// The log stores 29 bytes with the value of a timer: the trace context of the call, in the binary format of OpenCensus
// (the trace ID, the span ID and the flags, without the trace state). Calls whose span is not sampled store nothing, as
// a link to a span that was not recorded leads nowhere.
//
// # The span of an attempt
//
// Its name is "fire" and the Name of the timers, its kind is consumer. An attempt that failed has the status Error and
// the error as an event. These are its attributes:
//
//	epicycle.timers.name       Name of the Config
//	epicycle.timers.partition  number of the partition
//	epicycle.timer.id          ID of the timer
//	epicycle.timer.due         when it was due, in RFC 3339
//	epicycle.timer.attempt     number of the attempt, from 1
//	epicycle.timer.epoch       Epoch of the Firing
//	epicycle.timer.schedule    the Schedule, if it has one
//	epicycle.timer.missed      runs of the Schedule that were missed, if any
//
// Keys and values are not among them: they may be secret, and a handler can add what it wants to its span.
package oteltrace
