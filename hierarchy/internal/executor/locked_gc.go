//go:build gc && go1.25 && !go1.27

package executor

import _ "unsafe" // for go:linkname

// knowsLockedThread reports whether lockedOSThread works.
const knowsLockedThread = true

// lockedOSThread reports whether the goroutine is locked to its thread by runtime.LockOSThread.
// The linker allows the use of this function of package runtime, which is not documented. So
// this file is only for versions of Go that are known to have it. Others use locked_other.go,
// and start a goroutine for each callback.
//
//go:linkname lockedOSThread runtime.lockedOSThread
func lockedOSThread() bool
