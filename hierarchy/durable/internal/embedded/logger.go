package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
)

// tell logs a message to the loggers of all shares of the directory. A logger that several shares have in common gets
// the message once.
func (s *Server) tell(level slog.Level, text string, args ...any) {
	var logs []*slog.Logger
	opened.mu.Lock()
	for _, share := range s.shares {
		if !slices.Contains(logs, share.log) {
			logs = append(logs, share.log)
		}
	}
	opened.mu.Unlock()
	for _, l := range logs {
		l.Log(context.Background(), level, text, args...)
	}
}

// logger passes the messages of a NATS server to the loggers of all shares of its directory. The server's notices, a
// dozen at each start, are passed on at the debug level.
type logger struct {
	*Server
	fatal atomic.Pointer[string] // why the server does not start, or nil
}

func (l *logger) say(level slog.Level, format string, v []any) (line string) {
	line = fmt.Sprintf(format, v...)
	l.tell(level, "server: "+line)
	return line
}

func (l *logger) Noticef(format string, v ...any) { l.say(slog.LevelDebug, format, v) }
func (*logger) Debugf(string, ...any)             {}
func (*logger) Tracef(string, ...any)             {}

// Warnf is also called when the server can't open a file that it has to read. The server then goes on as if the stream
// did not exist.
func (l *logger) Warnf(format string, v ...any) {
	if line := l.say(slog.LevelWarn, format, v); lacksFiles(line) {
		l.failed(line)
	}
}

func (l *logger) Errorf(format string, v ...any) {
	if line := l.say(slog.LevelError, format, v); wasWriteError(line) {
		l.failed(line)
	}
}

// Fatalf is called when the server can't start. The server expects that Fatalf ends the process.
func (l *logger) Fatalf(format string, v ...any) {
	line := l.say(slog.LevelError, format, v)
	l.fatal.CompareAndSwap(nil, &line)
}
