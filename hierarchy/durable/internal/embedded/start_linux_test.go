package embedded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"
)

// longestPath is the length of the longest path that Linux takes.
const longestPath = 4095

// A server that says why it does not start is not waited for. This one has a directory in which it can't create a file
// to see whether it may write, since the path of that file would be too long.
func TestServerThatSaysWhyItDoesNotStart(t *testing.T) {
	dir := t.TempDir()
	left := longestPath - len(account(dir))
	for left > 0 {
		n := min(left, 200)
		if left-n == 1 { // a separator needs a name
			n--
		}
		dir = filepath.Join(dir, strings.Repeat("d", n-1))
		left -= n
	}
	require.NoError(t, os.MkdirAll(filepath.Join(streams(dir), server.JetStreamStoreDir), 0o700))
	_, err := openDir(dir)
	require.ErrorContains(t, err, "the server does not start: ")
	require.ErrorContains(t, err, "file name too long")
	requireFree(t)
}
