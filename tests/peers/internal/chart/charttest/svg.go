// Package charttest checks pictures in tests.
package charttest

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// RequireSVG requires that the file is well-formed and that its root is svg. It returns
// the text of the file.
func RequireSVG(t *testing.T, path string) string {
	t.Helper()
	picture, err := os.ReadFile(path)
	require.NoError(t, err)
	decoder, root := xml.NewDecoder(strings.NewReader(string(picture))), ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if element, ok := token.(xml.StartElement); ok && root == "" {
			root = element.Name.Local
		}
	}
	require.Equal(t, "svg", root)
	return string(picture)
}
