//go:build gc && !go1.28

package executor

import _ "unsafe" // for go:linkname

func init() { lockedOSThread = runtimeLockedOSThread }

// runtimeLockedOSThread is a function of package runtime that is not documented. The linker allows its use, as Go's own
// tests do. Elsewhere a linker may refuse, so this file is only for versions of Go that are known to have the function.
// TestGoroutinesAreShared says what to do about the next.
//
//go:linkname runtimeLockedOSThread runtime.lockedOSThread
func runtimeLockedOSThread() bool
