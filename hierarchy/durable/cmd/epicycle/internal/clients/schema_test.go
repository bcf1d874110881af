package clients

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each field that /openapi.json describes is in the types of each client. In Go, Operation is what a Setting becomes.
func TestTypes(t *testing.T) {
	resp, err := http.Get(serve(t) + "/openapi.json")
	require.NoError(t, err)
	defer resp.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&doc))
	sources := map[string]string{
		`"%s[,"]`:       text(t, "/go/timer.go") + text(t, "/go/take.go") + text(t, "/go/batch.go") + text(t, "/go/timers.go") + text(t, "/go/error.go"),
		`\b%s: |"%s"`:   text(t, "/python/epicycle.py"),
		`(?m)\b%s\??: `: text(t, "/typescript/epicycle.ts"),
	}
	for _, schema := range []string{"Timer", "Target", "Firing", "Page", "Result", "Setting", "Operation"} {
		properties := doc.Components.Schemas[schema].Properties
		require.NotEmpty(t, properties, schema)
		for name := range properties {
			if name == "$schema" {
				continue
			}
			for pattern, source := range sources {
				whole := regexp.MustCompile(`%s`).ReplaceAllLiteralString(pattern, name)
				require.Regexp(t, whole, source, "%s.%s", schema, name)
			}
		}
	}
}

func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(sources + name)
	require.NoError(t, err)
	return string(b)
}
