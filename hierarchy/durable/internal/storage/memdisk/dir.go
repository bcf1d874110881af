package memdisk

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// dir is a directory.
type dir struct {
	now     map[string]entry
	durable map[string]entry
	changes []change // of durable that lead to now
}

// entry is what has a name: a file or a directory.
type entry struct {
	file *file
	dir  *dir
}

func newDir() *dir { return &dir{now: map[string]entry{}, durable: map[string]entry{}} }

type change interface{ apply(map[string]entry) }

type (
	link struct {
		name  string
		entry entry
	}
	unlink struct{ name string }
	move   struct {
		from, to string
		entry    entry
	}
)

func (c link) apply(names map[string]entry)   { names[c.name] = c.entry }
func (c unlink) apply(names map[string]entry) { delete(names, c.name) }

func (c move) apply(names map[string]entry) {
	if names[c.from] == c.entry {
		delete(names, c.from)
	}
	names[c.to] = c.entry
}

func (d *dir) change(c change) {
	c.apply(d.now)
	d.changes = append(d.changes, c)
}

func (d *dir) sync() {
	d.durable, d.changes = maps.Clone(d.now), nil
}

// crashed returns the directory after a loss of power. Files that have several names keep them: copies has those that
// were copied already.
func (d *dir) crashed(how Crash, rng *rand.Rand, copies map[*file]*file) *dir {
	names := maps.Clone(d.durable)
	for _, c := range how.survivors(d.changes, rng) {
		c.apply(names)
	}
	after := newDir()
	for _, name := range slices.Sorted(maps.Keys(names)) { // in order, so that the seed decides
		e := names[name]
		if e.dir != nil {
			e.dir = e.dir.crashed(how, rng, copies)
		} else {
			if copies[e.file] == nil {
				copies[e.file] = e.file.crashed(how, rng)
			}
			e.file = copies[e.file]
		}
		after.now[name] = e
	}
	after.sync()
	return after
}

// survivors returns which changes of a directory reached the disk.
func (c Crash) survivors(all []change, rng *rand.Rand) (some []change) {
	if !c.AnyChanges {
		return all[:rng.IntN(len(all)+1)]
	}
	for _, one := range all {
		if rng.IntN(2) == 0 {
			some = append(some, one)
		}
	}
	return some
}
