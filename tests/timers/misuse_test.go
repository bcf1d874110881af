package timers

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

func TestNilContexts(t *testing.T) {
	w := wheeltest.New(t, hierarchy.Config{})
	f, err := w.NewFunc(nop)
	require.NoError(t, err)
	var none context.Context
	for method, call := range map[string]func() error{
		"Sleep":    func() error { return w.Sleep(none, time.Second) },
		"StopWait": func() error { return f.StopWait(none) },
		"Shutdown": func() error { return w.Shutdown(none) },
	} {
		require.PanicsWithValue(t, "hierarchy: "+method+" with a nil context", func() { _ = call() })
	}
	wheeltest.Set(t, w, time.Hour, nop) // Shutdown has not stopped it
}
