//go:build !gc || !go1.25 || go1.27

package executor

const knowsLockedThread = false

func lockedOSThread() bool { return false }
