package jetstream

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// JetStream's errors are those of package journal, where these say the same, and no others are.
func TestMeant(t *testing.T) {
	kinds := []error{storage.ErrRefused, storage.ErrTooLarge, storage.ErrAbsent, storage.ErrDamaged}
	for code, want := range map[jetstream.ErrorCode]error{
		10071: storage.ErrRefused, 10164: storage.ErrRefused, 10054: storage.ErrTooLarge, 10037: storage.ErrAbsent, 10059: nil,
	} {
		err := meant(&jetstream.APIError{ErrorCode: code})
		for _, kind := range kinds {
			require.Equal(t, kind == want, errors.Is(err, kind), "%d", code)
		}
		require.ErrorContains(t, err, "nats: API error")
	}
	require.NoError(t, meant(nil))
}
