//go:build race

package simulate

// few is how many histories are simulated where there is little time.
const few = 8

// checkMemory does nothing: it reads what others write after virtual time has gone on, and the race detector does not
// know that this comes after.
func (w *world) checkMemory() {}
