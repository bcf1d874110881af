package command

import (
	"log/slog"
)

// logger returns a logger that never logs keys or values.
func (s *server) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.logLevel)); err != nil {
		return nil, usageError("-log-level %q is none of debug, info, warn and error", s.logLevel)
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: discreet}
	if s.logJSON {
		return slog.New(slog.NewJSONHandler(s.std.err, options)), nil
	}
	return slog.New(slog.NewTextHandler(s.std.err, options)), nil
}

// discreet removes attributes that may hold a key or a value.
func discreet(_ []string, a slog.Attr) slog.Attr {
	if a.Key == "key" || a.Key == "value" {
		return slog.Attr{}
	}
	return a
}
