package filelog

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/logtest"
)

func TestContract(t *testing.T) {
	logtest.Run(t, func(t *testing.T) func() storage.Log {
		l, err := Open(OS{}, filepath.Join(t.TempDir(), "timers"))
		require.NoError(t, err)
		t.Cleanup(func() { <-l.Close() })
		return func() storage.Log { return l }
	})
}
