package member

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Config configures Join.
type Config struct {
	Store      storage.Table
	Partitions int
	Lease      time.Duration // default 10s, at most a day
	Renew      time.Duration // from one renewal of the lease to the next, default an eighth of Lease
	Text       string        // describes this member to people, for example its host and process
	// Boot reads a clock that goes on while the machine sleeps and is never set. The result is not negative. The
	// default is the clock of the system.
	Boot   func() time.Duration
	Logger *slog.Logger // default: discards
	// Unable lists the partitions that, as this member knows, it can't take.
	Unable []int
	// ID is for tests that need the same ID each time. Default: random.
	ID ID

	// Rise, if not nil, is called when Owns may have become true: after each renewal and each claim. It must return at
	// once, and must not call methods of the Member other than Holds and Owns.
	Rise func()

	sleep func(context.Context, time.Duration) bool // wait.Sleep, unless tests drive the member by coroutines
}

// DefaultLease is the lease if Config has none.
const DefaultLease = 10 * time.Second

func (cfg Config) withDefaults() (Config, error) {
	if cfg.Store == nil || cfg.Partitions < 1 || cfg.Lease < 0 || cfg.Lease > longestLease {
		return cfg, fmt.Errorf("member: Config needs a Store, partitions, and a Lease of at most a day: %d, %v",
			cfg.Partitions, cfg.Lease)
	}
	if cfg.Lease == 0 {
		cfg.Lease = DefaultLease
	}
	if cfg.Renew == 0 {
		cfg.Renew = renewed(cfg.Lease)
	}
	if cfg.Boot == nil {
		cfg.Boot = bootTime
	}
	if cfg.sleep == nil {
		cfg.sleep = wait.Sleep
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.ID == 0 {
		cfg.ID = newID()
	}
	return cfg, nil
}

// ID names a member: one Join of one process. No ID is used twice. The zero ID is nobody.
type ID uint64

// String returns 16 hexadecimal digits.
func (id ID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// parseID is the inverse of String. ok is false for any other text, and for nobody's ID.
func parseID(s string) (id ID, ok bool) {
	n, err := strconv.ParseUint(s, 16, 64)
	id = ID(n)
	return id, err == nil && n != 0 && id.String() == s
}

// newID returns a random ID.
func newID() ID {
	for {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		if id := ID(binary.LittleEndian.Uint64(b[:])); id != 0 {
			return id
		}
	}
}
