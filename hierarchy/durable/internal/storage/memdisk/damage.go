package memdisk

import (
	"path/filepath"
	"slices"
)

// Clone returns another disk with the same files, all of them durable.
func (d *Disk) Clone() *Disk {
	after := New(0)
	for _, name := range d.Files() {
		after.Put(name, d.Data(name))
	}
	return after
}

// Files returns the names of all files.
func (d *Disk) Files() (names []string) {
	d.set(func() { names = d.m.root.files("") })
	slices.Sort(names)
	return names
}

func (d *dir) files(above string) (names []string) {
	for name, e := range d.now {
		name = filepath.Join(above, name)
		if e.dir != nil {
			names = append(names, e.dir.files(name)...)
		} else {
			names = append(names, name)
		}
	}
	return names
}

// Data returns the contents of a file, or nil.
func (d *Disk) Data(name string) (data []byte) {
	d.set(func() {
		if n, err := d.m.file(name); err == nil {
			data = slices.Clone(n.now)
		}
	})
	return data
}

// Put makes a file with this content durable, or removes it if data is nil.
func (d *Disk) Put(name string, data []byte) {
	_ = d.MkdirAll(filepath.Dir(name))
	d.set(func() {
		in, base, _ := d.m.find(name)
		if data == nil {
			in.change(unlink{base})
		} else {
			in.change(link{base, entry{file: &file{now: slices.Clone(data), durable: slices.Clone(data)}}})
		}
		d.m.root.syncAll()
	})
}

func (d *dir) syncAll() {
	d.sync()
	for _, e := range d.now {
		if e.dir != nil {
			e.dir.syncAll()
		}
	}
}

// Flip flips bits of one byte of a file.
func (d *Disk) Flip(name string, at int, bits byte) {
	data := d.Data(name)
	data[at] ^= bits
	d.Put(name, data)
}
