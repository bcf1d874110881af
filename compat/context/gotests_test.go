package context_test

import (
	"testing"

	"github.com/epicycle-go/epicycle/compat/internal/gotests"
	"github.com/epicycle-go/epicycle/tests/long"
)

const childrenFollow = "wants a child that package context made below one of ours to follow a " +
	"cancelled grandparent within the call, and its String to name all its ancestors"

// Go's own tests of contexts pass.
func TestGoTests(t *testing.T) {
	long.Only(t)
	gotests.Suite{
		Package: "context",
		Files:   []string{"x_test.go", "afterfunc_test.go", "net_test.go"},
		Imports: map[string]string{
			"context":       "github.com/epicycle-go/epicycle/compat/context",
			"internal/asan": "gotests/asan",
		},
		Extra: map[string]string{"asan/asan.go": "package asan\n\nconst Enabled = false\n"},
		LeftOut: map[string]string{
			"TestParentFinishesChild":     "looks inside contexts",
			"TestChildFinishesFirst":      "looks inside contexts",
			"TestCancelRemoves":           "looks inside contexts",
			"TestCustomContextGoroutines": "looks inside contexts",
			"TestAllocs":                  "counts allocations to the piece, those of an empty wheel too",
			"TestLayersCancel":            childrenFollow,
			"TestLayersTimeout":           childrenFollow,
		},
		Flags: []string{"-timeout=5m"},
	}.Run(t)
}
