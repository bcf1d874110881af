package durable_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Only the storage speaks NATS, and it knows only the interfaces that it implements. Another storage would be a package
// beside internal/jetstream.
func TestOnlyTheStorageSpeaksNATS(t *testing.T) {
	const internal = "github.com/epicycle-go/epicycle/hierarchy/durable/internal/"
	speaks := []string{"jetstream", "jetstream/jetstreamtest", "testkit/servers"}
	knows := []string{"storage", "wait"}
	files, err := filepath.Glob("internal/*/*.go")
	require.NoError(t, err)
	deeper, err := filepath.Glob("internal/*/*/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range append(files, deeper...) {
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "internal/")
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range parsed.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			require.NoError(t, err)
			if strings.HasPrefix(path, "github.com/nats-io/") {
				require.Contains(t, speaks, dir, "%s imports %s", file, path)
			}
			if own, ok := strings.CutPrefix(path, internal); ok && dir == "jetstream" {
				require.Contains(t, knows, own, "%s imports %s", file, path)
			}
		}
	}
}
