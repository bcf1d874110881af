// Package remote calls partitions that other processes own. A Client batches the calls of its process for one partition
// into messages, and retries until there is an answer. A Server answers requests for a partition. WIRE.md, next to the
// module's go.mod, describes the messages.
package remote

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Config is the configuration of a Client or a Server.
type Config struct {
	Bus        storage.Bus
	Name       string       // the name of the set of timers
	Partitions int          // the number of partitions of the set
	Logger     *slog.Logger // may be nil
	Clock      clock.Clock  // for the durations of calls, default clock.System()
	// GiveUp is the time without an answer after which a call fails with ErrUnavailable, default a minute.
	GiveUp time.Duration
}

func (cfg *Config) fillIn() {
	if cfg.GiveUp == 0 {
		cfg.GiveUp = time.Minute
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
}

// subject returns the subject on which the owner of a partition receives requests.
func (cfg *Config) subject(at int) string { return fmt.Sprintf("epicycle.%s.ask.%d", cfg.Name, at) }

// The reasons why there is no answer. Calls return them wrapped in ErrUnavailable.
var (
	errNobody  = errors.New("no process owns the partition")
	errNotMine = errors.New("the process that got the request does not own the partition")
	errSilent  = errors.New("the owner of the partition does not answer")
	errClosing = errors.New("the client was closed before the owner of the partition answered")
)

func unavailable(why error) error { return storage.Because(partition.ErrUnavailable, why) }

const (
	// maxFlying limits the messages to one partition that are in flight at once.
	maxFlying = 4
	// maxOps and maxBytes limit a message that holds more than one call.
	maxOps   = 500
	maxBytes = 256 << 10
	// headers is an upper bound for the number of bytes that a bus and a message need in addition to operations.
	headers = 1 << 10

	firstPause = 5 * time.Millisecond // the first pause after the response that nobody owns the partition
	lastPause  = 200 * time.Millisecond
	firstQuiet = time.Second // the first pause after a copy without any response
	manyQuiet  = 8           // the largest factor by which that pause grows
)

func newBackoff() wait.Backoff { return wait.Backoff{First: firstPause, Last: lastPause} }

// newQuiet returns the backoff for copies that have no response.
func (c *Client) newQuiet() wait.Backoff {
	return wait.Backoff{First: c.quiet, Last: manyQuiet * c.quiet}
}
