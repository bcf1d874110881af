package servers

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Leader returns the name of the server that leads the log of a partition.
func Leader(ctx context.Context, nc *nats.Conn, name string, partition int) (string, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return "", err
	}
	s, err := js.Stream(ctx, fmt.Sprintf("epicycle_%s_%d", name, partition))
	if err != nil {
		return "", err
	}
	if c := s.CachedInfo().Cluster; c != nil {
		return c.Leader, nil
	}
	return "", nil
}
