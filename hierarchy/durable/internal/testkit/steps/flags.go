package steps

import "flag"

// Flags defines the flags of a test that goes through histories: how many, and the seed of the first one. Command simulate
// sets them.
func Flags(histories int) (n *int, first *uint64) {
	return flag.Int("histories", histories, "how many histories are gone through"),
		flag.Uint64("seed", 0, "the seed of the first history; each has the next one")
}
