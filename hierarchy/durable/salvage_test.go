package durable_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

func TestSalvageOfNothing(t *testing.T) {
	err := durable.Salvage(io.Discard, "", func(durable.Salvaged) error { return nil })
	require.ErrorContains(t, err, "there is nothing to read")
}
