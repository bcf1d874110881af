//go:build unix

package command

import (
	"os"
	"os/signal"
	"syscall"
)

// onHangup reads the tokens again when the process gets SIGHUP.
func (f *front) onHangup() (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			if f.tokens == nil {
				continue
			}
			if err := f.readTokens(); err != nil {
				f.logger.Error("epicycle: the tokens can't be read, and stay as they were", "err", err)
				continue
			}
			f.logger.Info("epicycle: the tokens were read again")
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
	}
}
