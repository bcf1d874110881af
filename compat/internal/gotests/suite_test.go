package gotests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/tests/long"
)

// A hasty test that fails is run again, and another is not.
func TestHastyTestsAreRunAgain(t *testing.T) {
	long.Only(t) // it compiles tests
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module gotests\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "some_test.go"), `package some

import (
	"os"
	"testing"
)

func TestOther(t *testing.T) {
	if _, err := os.Stat("bad"); err == nil {
		t.Error("always")
	}
}

func TestHasty(t *testing.T) {
	if os.Mkdir("tried", 0o755) == nil {
		t.Error("at first")
	}
}
`)
	s := Suite{Hasty: map[string]string{"TestHasty": "the first run"}}
	out, err := s.testAgain(t, dir)
	require.NoError(t, err, out)
	s.requirePass(t, out, []string{"TestOther", "TestHasty"})

	require.NoError(t, os.Remove(filepath.Join(dir, "tried")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bad"), 0o755))
	out, err = s.testAgain(t, dir)
	require.Error(t, err)
	require.Equal(t, []string{"TestOther", "TestHasty"}, failed(out))
}
