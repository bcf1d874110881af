//go:build !unix

package command

// onHangup does nothing, since this system has no SIGHUP.
func (f *front) onHangup() (stop func()) { return func() {} }
