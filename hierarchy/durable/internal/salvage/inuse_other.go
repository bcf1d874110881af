//go:build !unix || solaris || illumos || aix

package salvage

// inUse can't be told here without changing something.
func inUse(string) bool { return false }
