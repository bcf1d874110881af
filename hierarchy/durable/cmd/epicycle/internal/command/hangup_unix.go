//go:build unix

package command

import (
	"os"
	"os/signal"
	"syscall"
)

// onHangup calls reload when the process gets SIGHUP.
func (f *front) onHangup() (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			f.reload()
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
	}
}
