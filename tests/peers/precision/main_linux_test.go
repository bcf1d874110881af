package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/tests/peers/internal/chart/charttest"
)

// TestRun runs everything once, in turns that are too short to mean anything.
func TestRun(t *testing.T) {
	o := options{
		picture: filepath.Join(t.TempDir(), "picture.svg"),
		timers:  4, rounds: 2,
		crowdTurns: 1, crowdTurn: 50 * time.Millisecond,
		lowTurns: 1, lowTurn: 100 * time.Millisecond,
	}
	var out, progress strings.Builder
	require.NoError(t, run(o, &out, &progress))
	picture := charttest.RequireSVG(t, o.picture)
	for _, l := range loads {
		require.Contains(t, picture, l.name)
		require.Contains(t, out.String(), "\n| "+l.name+" |")
	}
	for _, c := range lateContenders {
		require.Contains(t, picture, c.name)
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
