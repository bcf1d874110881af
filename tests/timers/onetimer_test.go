package timers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// The life of one timer with the default Config, which docs/design.md describes. A test in package tests
// holds that page to what runs here.
func TestOneTimer(t *testing.T) {
	w, err := hierarchy.New(hierarchy.Config{})
	require.NoError(t, err)
	fired := make(chan time.Time)
	set := time.Now()
	_, err = w.AfterFunc(10*time.Millisecond, func() { fired <- time.Now() })
	require.NoError(t, err)
	require.GreaterOrEqual(t, (<-fired).Sub(set), 10*time.Millisecond)
	require.NoError(t, w.Shutdown(t.Context()))
}
