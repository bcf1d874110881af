//go:build !unix

package command

// onHangup does nothing: there is no SIGHUP.
func (f *front) onHangup() (stop func()) { return func() {} }
