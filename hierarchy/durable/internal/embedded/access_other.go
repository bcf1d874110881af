//go:build !unix

package embedded

// access can't be told here without making a file.
func access(string) error { return nil }
