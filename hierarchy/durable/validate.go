package durable

import (
	"cmp"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
)

// validate returns cfg with its defaults set, or ErrArgument.
func (cfg Config[K, V]) validate() (_ Config[K, V], err error) {
	if problem := cmp.Or(cfg.storageProblem(), cfg.problem()); problem != "" {
		return cfg, fmt.Errorf("%w: %s", core.ErrArgument, problem)
	}
	cfg.setDefaults()
	if cfg.Key == nil {
		if cfg.Key, err = keyCodec[K](); err != nil {
			err = fmt.Errorf("%w: %w", core.ErrArgument, err)
		}
	}
	return cfg, err
}

// problem returns a description of what is wrong with the configuration, or "". It does not check what storageProblem
// checks.
func (cfg *Config[K, V]) problem() string {
	switch {
	case cfg.Handle != nil && cfg.Announce != nil:
		return "there are both Handle and Announce"
	case cfg.Announce != nil && cfg.Timeout > 0:
		return fmt.Sprintf("Timeout %v does not end attempts that Begin begins", cfg.Timeout)
	case cfg.Partitions < 0 || cfg.Partitions > jetstream.MaxPartitions:
		return fmt.Sprintf("Partitions %d is not between 0 and %d", cfg.Partitions, jetstream.MaxPartitions)
	case cfg.Name != "" && !jetstream.ValidName(cfg.Name):
		return fmt.Sprintf("Name %q must have 1 to 64 of the characters a-z A-Z 0-9 - _", cfg.Name)
	}
	return cmp.Or(negative("Concurrency", cfg.Concurrency), negative("KeepDead", cfg.KeepDead),
		negative("MaxPending", cfg.MaxPending), negative("Timeout", cfg.Timeout),
		negative("MaxSkew", cfg.MaxSkew), negative("Precision", cfg.Precision))
}

func negative[T int | time.Duration](name string, value T) string {
	if value >= 0 {
		return ""
	}
	return fmt.Sprintf("%s %v is negative", name, value)
}

// storageProblem returns a description of what is wrong with Dir, Conn, Replicas and Lease, or "".
func (cfg *Config[K, V]) storageProblem() string {
	switch {
	case cfg.Conn != nil && cfg.Dir != "":
		return "there are both Dir and Conn"
	case cfg.Conn == nil && cfg.Dir == "":
		return "Dir is empty, and there is no Conn"
	case cfg.Dir != "" && cfg.isCaller():
		return "Handle is nil, which needs Conn"
	case cfg.Conn != nil && cfg.Conn.Opts.NoEcho:
		return "Conn has the option NoEcho"
	case cfg.Conn == nil && (cfg.Replicas != 0 || cfg.Lease != 0):
		return "Replicas and Lease need Conn"
	case cfg.Replicas < 0 || cfg.Replicas > maxReplicas:
		return fmt.Sprintf("Replicas %d is not between 0 and %d", cfg.Replicas, maxReplicas)
	case cfg.Lease != 0 && (cfg.Lease < minLease || cfg.Lease > maxLease):
		return fmt.Sprintf("Lease %v is not between %v and %v", cfg.Lease, minLease, maxLease)
	}
	return ""
}

// setDefaults sets the fields that are zero, except for Key.
func (cfg *Config[K, V]) setDefaults() {
	cfg.MaxSkew = cmp.Or(cfg.MaxSkew, defaultSkew)
	cfg.Name = cmp.Or(cfg.Name, "timers")
	cfg.Concurrency = cmp.Or(cfg.Concurrency, defaultConcurrency)
	cfg.MaxAttempts = cmp.Or(cfg.MaxAttempts, defaultAttempts)
	cfg.Precision = cmp.Or(cfg.Precision, time.Millisecond)
	cfg.Value = cmp.Or(cfg.Value, valueCodec[V]())
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Backoff == nil {
		cfg.Backoff = backoff
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.Precise()
	}
}

const longestBackoff = 10 * time.Minute

// backoff returns the default of Config.Backoff.
func backoff(attempt int) time.Duration {
	d := longestBackoff
	if attempt < 12 {
		d = min(d, time.Second<<max(0, attempt-1))
	}
	return d/2 + rand.N(d/2)
}

// owner returns the name of this process in logs and in Stats.
func owner() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}

// maxSkew returns MaxSkew, or 0 if the clock is a mock, since a mock is not compared with the servers' clocks.
func (cfg *Config[K, V]) maxSkew() time.Duration {
	if clock.Virtual(cfg.Clock) {
		return 0
	}
	return cfg.MaxSkew
}

// isCaller reports whether this process owns nothing, and only calls the owners.
func (cfg *Config[K, V]) isCaller() bool { return cfg.Handle == nil && cfg.Announce == nil }
