package chart

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg/draw"
)

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.svg")
	require.NoError(t, Save(path, "the title", 100, func(c draw.Canvas) error {
		require.InDelta(t, 100-2*Margin-TitleHeight, float64(c.Max.Y-c.Min.Y), 0.01)
		return nil
	}))
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(page), "the title")
	require.Contains(t, string(page), "Liberation Sans,Arial")
}

func TestSaveFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.svg")
	require.ErrorIs(t, Save(path, "", 100, func(draw.Canvas) error { return os.ErrClosed }), os.ErrClosed)
	require.NoFileExists(t, path)
}
