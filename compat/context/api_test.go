package context_test

import (
	standard "context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/context"
	"github.com/epicycle-go/epicycle/compat/internal/api"
	"github.com/epicycle-go/epicycle/tests/long"
)

// Every exported name of package context is here, with the same type, value and members. If a
// new version of Go has more, run go generate with it.
func TestAPI(t *testing.T) {
	long.Only(t)
	found, err := api.Differences("context", ".")
	if errors.Is(err, api.ErrNoSource) {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.Empty(t, found)
}

// Values pass freely between the two packages.
var (
	_ standard.Context                                                             = context.Background()
	_ context.CancelFunc                                                           = standard.CancelFunc(nil)
	_ func(standard.Context, time.Duration) (context.Context, standard.CancelFunc) = context.WithTimeout
)
