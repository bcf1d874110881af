package time

import (
	"unsafe"
	"weak"
)

// weakChannel refers to a channel without keeping it alive. Programs often keep the channel
// of a Ticker alone, so the Ticker must tick until the channel is garbage, too.
//
// A channel is a pointer to an object of the runtime. Package weak has no pointers to
// channels, but takes a pointer to any object.
type weakChannel struct{ pointer weak.Pointer[byte] }

func weaken(c chan Time) weakChannel { return weakChannel{weak.Make(addressOf(c))} }

// value returns the channel, or nil if it was collected.
func (w weakChannel) value() (c chan Time) {
	*(**byte)(unsafe.Pointer(&c)) = w.pointer.Value()
	return c
}

// addressOf returns the address of the object that c points to.
func addressOf(c chan Time) *byte { return *(**byte)(unsafe.Pointer(&c)) }
