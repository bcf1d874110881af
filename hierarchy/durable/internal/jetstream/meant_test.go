package jetstream

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// JetStream's errors are those of package journal, where these say the same, and no others are.
func TestMeant(t *testing.T) {
	kinds := []error{journal.ErrRefused, journal.ErrTooLarge, journal.ErrAbsent, journal.ErrDamaged}
	for code, want := range map[jetstream.ErrorCode]error{
		10071: journal.ErrRefused, 10164: journal.ErrRefused, 10054: journal.ErrTooLarge, 10037: journal.ErrAbsent, 10059: nil,
	} {
		err := meant(&jetstream.APIError{ErrorCode: code})
		for _, kind := range kinds {
			require.Equal(t, kind == want, errors.Is(err, kind), "%d", code)
		}
		require.ErrorContains(t, err, "nats: API error")
	}
	require.NoError(t, meant(nil))
}
