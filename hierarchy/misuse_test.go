package hierarchy_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

func TestNilContexts(t *testing.T) {
	w := newWheel(t, hierarchy.Config{})
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
	mustSet(t, w, time.Hour, nop) // Shutdown has not stopped it
}
