package partition

import (
	"context"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// Peek looks at the last frame of a log, and writes nothing. The error is ErrVersion if this program can't
// read it. The last frame has the latest version in a log, as nobody takes over what he can't read. Other
// errors say nothing about the version.
func Peek(ctx context.Context, cfg Config) error {
	b, err := cfg.Log.Bounds(ctx)
	if err == nil && b.First <= b.Last {
		_, err = (&Partition{cfg: cfg}).lastOf(ctx, b)
	}
	if err != nil {
		err = journal.In(fmt.Sprintf("partition %d", cfg.Partition), err)
	}
	return err
}
