package main

import (
	"encoding/xml"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPicturesAreUpToDate checks that the pictures in docs are what the code draws. After a
// change, run `go run ./docs/drawing`.
func TestPicturesAreUpToDate(t *testing.T) {
	for name, draw := range pictures {
		picture, err := draw()
		require.NoError(t, err)
		require.NoError(t, xml.Unmarshal([]byte(picture), new(struct{})))
		kept, err := os.ReadFile("../" + name)
		require.NoError(t, err)
		require.True(t, strings.ReplaceAll(string(kept), "\r\n", "\n") == picture, "%s is out of date", name)
	}
}

func TestWidths(t *testing.T) {
	for d, want := range map[time.Duration]string{
		64: "64 ns", 4096: "4.1 µs", 1 << 24: "16.8 ms", 1 << 30: "1.07 s", 1 << 36: "68.7 s",
		1 << 42: "73 min", 1 << 48: "3.3 d",
	} {
		require.Equal(t, want, width(d))
	}
}

func TestShades(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 3: 1, 4: 2, 16: 3, 1 << 20: 5} {
		require.Equal(t, want, shade(n), "%d timers", n)
	}
}
