package arena

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// No entry counts that names a node which was not used yet, whatever its stamp: it may be of a timer whose
// chunk was freed and made again.
func TestNodesThatWereNotUsedYetAreNotNamed(t *testing.T) {
	var a Arena
	for shape := a.Shape(); len(a.nodes) < 3; shape = a.Shape() {
		i := a.Alloc()
		a.At(i).Init(0, uint64(i), 0, 0, 0)
		if a.Shape() == shape {
			continue
		}
		for entry := range a.nodes[i>>ChunkBits] {
			n := &a.nodes[i>>ChunkBits][entry]
			require.Equal(t, n.id != 0, n.Named(n.Stamp()), entry)
		}
	}
}
