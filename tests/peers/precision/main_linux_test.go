package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRun goes through everything once, in turns that are too short to mean
// anything.
func TestRun(t *testing.T) {
	o := options{
		picture: filepath.Join(t.TempDir(), "picture.svg"),
		timers:  4, rounds: 2,
		crowdTurns: 1, crowdTurn: 50 * time.Millisecond,
		lowTurns: 1, lowTurn: 100 * time.Millisecond,
	}
	var out, progress strings.Builder
	require.NoError(t, run(o, &out, &progress))
	picture, err := os.ReadFile(o.picture)
	require.NoError(t, err)
	requireSVG(t, string(picture))
	for _, l := range loads {
		require.Contains(t, string(picture), l.name)
		require.Contains(t, out.String(), "\n| "+l.name+" |")
	}
	for _, c := range lateContenders {
		require.Contains(t, string(picture), c.name)
		require.Equal(t, len(loads), strings.Count(latenessPart(out.String()), "| "+c.name+" |"))
	}
	for _, s := range costScenarios(o) {
		require.Contains(t, out.String(), "\n| "+s.name+" |")
	}
}

func latenessPart(report string) string {
	before, _, _ := strings.Cut(report, "| scenario |")
	return before
}

// requireSVG holds that text is well-formed and its root is svg.
func requireSVG(t *testing.T, text string) {
	decoder, root := xml.NewDecoder(strings.NewReader(text)), ""
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
}
