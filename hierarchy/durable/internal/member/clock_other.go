//go:build !linux

package member

import "time"

func bootTime() time.Duration { return monotonic() }
