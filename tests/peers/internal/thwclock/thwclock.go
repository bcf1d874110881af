// Package thwclock lets the caller set the time of a thw.HashWheel.
package thwclock

import (
	_ "unsafe" // for go:linkname

	"github.com/nats-io/nats-server/v2/server/thw"
)

// ExpireTasks is hw.ExpireTasks at the time now, in nanoseconds since the Unix epoch. The method hw.ExpireTasks reads
// time.Now itself, and calls the unexported method to which this function is linked.
//
//go:linkname ExpireTasks github.com/nats-io/nats-server/v2/server/thw.(*HashWheel).expireTasks
func ExpireTasks(hw *thw.HashWheel, now int64, callback func(seq uint64, expires int64) bool)
