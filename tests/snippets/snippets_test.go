package snippets

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const page = "# Page\n\n```go\na := 1\n\nb := 2\n```\n\n```sh\nls\n```\n\n```go\n\tc()\n```\n"

func TestOf(t *testing.T) {
	require.Equal(t, []string{"a := 1\n\nb := 2\n", "\tc()\n"}, Of(page))
	require.Empty(t, Of("no code"))
}

func TestMissing(t *testing.T) {
	require.Empty(t, Missing(page, "{\n\ta := 1\n\tb := 2\n\n}\nc()\n"))
	require.Equal(t, []string{"\tc()\n"}, Missing(page, "a := 1\nb := 2\n"))
	require.Equal(t, []string{"a := 1\n\nb := 2\n"}, Missing(page, "a := 1\nx()\nb := 2\nc()\n"))
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.md"), []byte("a\r\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.md"), []byte("b\n"), 0o600))
	text, err := Read(filepath.Join(dir, "b.*"), filepath.Join(dir, "a.md"), filepath.Join(dir, "none"))
	require.NoError(t, err)
	require.Equal(t, "b\na\n", text)
	_, err = Read("[")
	require.Error(t, err)
}
