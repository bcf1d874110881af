//go:build !unix || aix || (solaris && !illumos)

package salvage

// inUse can't be told here without changing something.
func inUse(string) bool { return false }
