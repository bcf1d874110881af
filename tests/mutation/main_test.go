package main

import (
	"testing"

	"github.com/epicycle-go/epicycle/internal/mutation"
)

// Every entry of the list fits the present code.
func TestBugsFitTheCode(t *testing.T) {
	for _, problem := range mutation.Misfits("../..", "bugs") {
		t.Error(problem)
	}
}
