package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// What docs/service.md does with curl works as it is.
func TestCurl(t *testing.T) {
	for _, program := range []string{"sh", "curl", "sed"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	page, err := os.ReadFile("../../../../../../docs/service.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)<!-- client: curl -->\n```sh\n(.*?)```").FindAllSubmatch(page, -1)
	require.Len(t, found, 1)
	s := serve(t)
	code := regexp.MustCompile(`(?m)^S=.*$`).ReplaceAll(found[0][1], []byte("set -e\nS="+s.url))
	file := filepath.Join(t.TempDir(), "client.sh")
	require.NoError(t, os.WriteFile(file, code, 0o600))
	out, err := exec.CommandContext(t.Context(), "sh", file).CombinedOutput()
	require.NoError(t, err, string(out))
	for _, line := range []string{`"key":"order-17"`, `"key":"mail-1"`, `{"results":[{"ok":true}]}`} {
		require.Contains(t, string(out), line)
	}
	require.Empty(t, s.do("GET", "/v1/timers", "").json(200)["timers"])
}
