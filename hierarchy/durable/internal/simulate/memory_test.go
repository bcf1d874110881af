//go:build !race

package simulate

import (
	"maps"
	"reflect"
	"strings"
	"testing/synctest"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/reach"
)

// few is how many histories are simulated where there is little time. With the race detector each takes many times as long.
const few = 24

// The memory of processes when nothing happens, in bytes, without histograms. Callers have 8,000 to 11,000, a partition
// 20,000 to 40,000 with what has room for more, and a process besides as much as a caller.
const (
	mostOfCaller    = 20_000
	mostOfPartition = 50_000
)

// checkMemory checks that processes have nothing in memory of what is over.
func (w *world) checkMemory() {
	synctest.Wait() // nothing changes meanwhile
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.living {
		most := mostOfCaller + mostOfPartition/2 // one may be about to be opened
		for at := range partitions {
			if owner, _ := p.cluster.Partition(at); owner != nil {
				most += mostOfPartition + 8*int(owner.Stats().LiveBytes)
			}
		}
		w.checkBytes(p.cluster, most)
	}
	for _, p := range w.calling {
		w.checkBytes(p.caller, mostOfCaller)
	}
}

func (w *world) checkBytes(process any, most int) {
	if n, of := reach.Bytes(process, isShared); n > most {
		maps.DeleteFunc(of, func(_ reflect.Type, n int) bool { return n < most/20 })
		w.wrong("memory: a %T has %d bytes, and should have %d; most are of %v", process, n, most, of)
	}
}

// isShared reports whether values of a type are not of one process, or have a size that nothing changes.
func isShared(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	path := t.PkgPath()
	return t.Name() == "Histogram" || path == "context" || path == "log/slog" ||
		strings.Contains(path, "/storage/mem") || strings.HasSuffix(path, "/simulate")
}
