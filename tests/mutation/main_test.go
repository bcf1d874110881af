package main

import (
	"testing"

	"github.com/epicycle-go/epicycle/tests/mutation/planted"
)

// Every entry of the list fits the present code.
func TestBugsFitTheCode(t *testing.T) {
	for _, problem := range planted.Misfits("../..", "bugs") {
		t.Error(problem)
	}
}
