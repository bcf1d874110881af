package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	function = regexp.MustCompile(`(?m)^func (\w+)\(`)
	value    = regexp.MustCompile(`(?m)^\t(\w+) += (\w+)\.(\w+)$`)
)

// Each name in the files that were written forwards to the name that it has.
func TestEachNameForwardsToItself(t *testing.T) {
	for _, pkg := range []string{"time", "context"} {
		files, err := filepath.Glob("../../" + pkg + "/forward*.go")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, m := range function.FindAllStringSubmatch(string(text), -1) {
				require.Regexp(t, `(?m)^func `+m[1]+`\(.*\{\s+(return )?`+pkg+`\.`+m[1]+`\(`, string(text))
			}
			values := value.FindAllStringSubmatch(string(text), -1)
			require.NotEmpty(t, values)
			for _, m := range values {
				require.Equal(t, []string{pkg, m[1]}, m[2:], m[0])
			}
		}
	}
}
