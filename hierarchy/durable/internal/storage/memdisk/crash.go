package memdisk

import "math/rand/v2"

// Crash says what a loss of power does to what was not synced.
type Crash struct {
	Seed uint64
	// Torn is the way in which writes reach the disk. If it is false, any sectors of any of them do. If it is true, the
	// first ones of each file do, and a part of the next one, from its beginning to any byte.
	Torn bool
	// AnyChanges makes any changes of a directory reach the disk, not only the first ones.
	AnyChanges bool
}

// Crashes returns n different ways to lose power.
func Crashes(seed uint64, n int) (all []Crash) {
	for i := range uint64(n) {
		all = append(all, Crash{Seed: seed*uint64(n) + i, Torn: i&1 != 0, AnyChanges: i&2 != 0})
	}
	return all
}

// Crash returns the disk after a loss of power. This one stays as it is, so that it can lose power in several ways.
func (d *Disk) Crash(how Crash) *Disk {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	rng := newRand(how.Seed)
	root := d.m.root.crashed(how, rng, map[*file]*file{})
	return &Disk{m: &machine{rng: rng, root: root, most: d.m.most, locked: d.m.locked}}
}

// crashed returns the file after a loss of power.
func (n *file) crashed(how Crash, rng *rand.Rand) *file {
	disk := append([]byte(nil), n.durable...)
	if how.Torn {
		disk = n.torn(disk, rng)
	} else {
		disk = n.scattered(disk, rng)
	}
	return &file{now: disk, durable: append([]byte(nil), disk...)}
}

// torn adds the first writes to what was durable, and a part of the next one.
func (n *file) torn(disk []byte, rng *rand.Rand) []byte {
	left := rng.IntN(len(n.writes) + 1)
	for _, w := range n.writes[:left] {
		disk = w.apply(disk)
	}
	if left < len(n.writes) {
		w := n.writes[left]
		w.data = w.data[:rng.IntN(len(w.data)+1)]
		disk = w.apply(disk)
	}
	return disk
}

// scattered adds any sectors of the writes to what was durable. Like the kernel, it writes a page as it is then, with
// what earlier writes have changed.
func (n *file) scattered(disk []byte, rng *rand.Rand) []byte {
	likely := rng.IntN(5) // so that all and nothing are likely, too
	coin := func() bool { return rng.IntN(4) < likely }
	seen := append([]byte(nil), n.durable...)
	for at, data := range n.clean {
		seen = write{at, data}.apply(seen)
	}
	for _, w := range n.writes {
		seen = w.apply(seen)
		if coin() {
			disk = resize(disk, max(int64(len(disk)), int64(len(seen))))
		}
		w.pages(seen, func(begin, end int64) { copySectors(disk, seen, begin, end, coin) })
	}
	return disk
}
