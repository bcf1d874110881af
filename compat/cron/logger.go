package cron

import (
	"io"
	"log"
	"os"
	"strings"
	"time"
)

// Logger is how a Cron and its wrappers log. It is a part of the interface of github.com/go-logr/logr.
type Logger interface {
	// Info logs what a Cron does: starts, stops, runs, and added and removed entries.
	Info(msg string, keysAndValues ...interface{})
	// Error logs what went wrong.
	Error(err error, msg string, keysAndValues ...interface{})
}

var (
	// DefaultLogger is the Logger of a Cron that has no other. It writes errors to the standard output.
	DefaultLogger Logger = PrintfLogger(log.New(os.Stdout, "cron: ", log.LstdFlags))

	// DiscardLogger logs nothing.
	DiscardLogger Logger = PrintfLogger(log.New(io.Discard, "", 0))
)

// PrintfLogger returns a Logger that writes errors to l, such as a *log.Logger, and nothing else.
func PrintfLogger(l interface{ Printf(string, ...interface{}) }) Logger {
	return printfLogger{l, false}
}

// VerbosePrintfLogger returns a Logger that writes everything to l, such as a *log.Logger.
func VerbosePrintfLogger(l interface{ Printf(string, ...interface{}) }) Logger {
	return printfLogger{l, true}
}

type printfLogger struct {
	logger  interface{ Printf(string, ...interface{}) }
	logInfo bool
}

func (l printfLogger) Info(msg string, keysAndValues ...interface{}) {
	if l.logInfo {
		l.print(msg, keysAndValues)
	}
}

func (l printfLogger) Error(err error, msg string, keysAndValues ...interface{}) {
	l.print(msg, append([]interface{}{"error", err}, keysAndValues...))
}

// print writes the message and the pairs that follow it.
func (l printfLogger) print(msg string, pairs []interface{}) {
	args := []interface{}{msg}
	for _, v := range pairs {
		if t, ok := v.(time.Time); ok {
			v = t.Format(time.RFC3339)
		}
		args = append(args, v)
	}
	l.logger.Printf("%s"+strings.Repeat(", %v=%v", len(pairs)/2), args...)
}
