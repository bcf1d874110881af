package embedded

import (
	"fmt"
	"log/slog"
)

// logger gives what the server has to say to a slog.Logger. Its notices, of which there are a
// dozen at each start, are for debugging.
type logger struct {
	log    *slog.Logger
	failed func(line string) // is called when a write has failed
}

func (l logger) Noticef(format string, v ...any) { l.log.Debug("server: " + fmt.Sprintf(format, v...)) }
func (l logger) Warnf(format string, v ...any)   { l.log.Warn("server: " + fmt.Sprintf(format, v...)) }

func (l logger) Errorf(format string, v ...any) {
	line := fmt.Sprintf(format, v...)
	l.log.Error("server: " + line)
	if wasWriteError(line) {
		l.failed(line)
	}
}

func (l logger) Fatalf(format string, v ...any) { l.log.Error("server: " + fmt.Sprintf(format, v...)) }
func (logger) Debugf(string, ...any)            {}
func (logger) Tracef(string, ...any)            {}
