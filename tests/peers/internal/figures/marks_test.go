package figures

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplaceBetween(t *testing.T) {
	const begin, end = "<!-- begin -->\n", "<!-- end -->\n"
	path := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(path, []byte("before\n"+begin+"old\n"+end+"after\n"), 0o600))
	require.NoError(t, ReplaceBetween(path, begin, end, "new\n"))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "before\n"+begin+"\nnew\n\n"+end+"after\n", string(text))
	require.NoError(t, os.WriteFile(path, []byte("no marks\n"), 0o600))
	require.ErrorIs(t, ReplaceBetween(path, begin, end, "new\n"), ErrNoMarks)
}
