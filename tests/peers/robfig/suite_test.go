package robfig

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/tests/long"
)

// robfig/cron's own tests pass on compat/cron, unchanged. The go command gets them from the module cache instead of the
// tests of compat/cron. They wait for whole seconds, 40 in all.
func TestTheirSuite(t *testing.T) {
	long.Only(t)
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	replaced := map[string]string{} // an empty name is no file
	names := func(pattern string) []string {
		all, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, all, pattern)
		return all
	}
	dir := filepath.Join(root, "compat", "cron")
	for _, name := range names(filepath.Join(dir, "*_test.go")) {
		replaced[name] = ""
	}
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", theirs).Output()
	require.NoError(t, err)
	for _, name := range names(filepath.Join(strings.TrimSpace(string(module)), "*_test.go")) {
		replaced[filepath.Join(dir, filepath.Base(name))] = name
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, text, 0o600))

	test := exec.Command("go", "test", "-v", "-count", "1", "-overlay", overlay, "./compat/cron")
	test.Dir = root
	out, err := test.CombinedOutput()
	require.NoError(t, err, string(out))
	require.GreaterOrEqual(t, strings.Count(string(out), "--- PASS: "), 60, string(out))
}
