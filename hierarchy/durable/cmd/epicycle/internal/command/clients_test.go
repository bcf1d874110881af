package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The clients in docs/service.md work as they are.
func TestClients(t *testing.T) {
	page, err := os.ReadFile("../../../../../../docs/service.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)<!-- client: (\\w+) -->\n```\\w+\n(.*?)```").FindAllSubmatch(page, -1)
	require.Len(t, found, 3)
	secret := newSecret(t)
	require.NotEqual(t, secret, newSecret(t))
	for _, client := range found {
		name, code := string(client[1]), client[2]
		t.Run(name, func(t *testing.T) {
			command := map[string]struct {
				program, file string
				output        []string
			}{
				"curl":   {"sh", "client.sh", []string{`"key":"order-17"`, `"key":"mail-1"`, `{"results":[{"ok":true}]}`}},
				"python": {"python3", "client.py", []string{"cancel order/17 {'id': 17}", "removed {'id': 18}", "mail {'text': 'hello'}"}},
				"node":   {"node", "client.mjs", []string{`cancel order/17 {"id":17}`, `removed {"id":18}`, `mail {"text":"hello"}`}},
			}[name]
			for _, program := range []string{command.program, name} {
				if _, err := exec.LookPath(program); err != nil && program != "python" {
					t.Skip(err)
				}
			}
			s := serve(t, "-secret-file", write(t, "secret", secret))
			if name == "curl" {
				code = regexp.MustCompile(`(?m)^S=.*$`).ReplaceAll(code, []byte("set -e\nS="+s.url))
			}
			file := filepath.Join(t.TempDir(), command.file)
			require.NoError(t, os.WriteFile(file, code, 0o600))
			cmd := exec.CommandContext(t.Context(), command.program, file)
			cmd.Env = append(os.Environ(), "EPICYCLE_SERVER="+s.url, "SECRET="+secret)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			for _, line := range command.output {
				require.Contains(t, string(out), line)
			}
			require.Empty(t, s.do("GET", "/v1/timers", "").json(200)["timers"])
		})
	}
}

// newSecret returns what the command secret prints.
func newSecret(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	require.Equal(t, ok, run(t.Context(), []string{"secret"}, streams{strings.NewReader(""), &out, &out}))
	return strings.TrimSuffix(out.String(), "\n")
}
