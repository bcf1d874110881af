// Package memdisk is a disk in memory, for tests of what keeps files. It tells apart what was written and what would
// survive a loss of power, and fails as disks do.
package memdisk

import (
	"cmp"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
)

// Disk is a disk as one process sees it. It implements filelog.FS.
type Disk struct {
	m      *machine
	faults // guarded by machine.mu
}

// machine is what remains when a process has ended: the disk, and the cache of the kernel.
type machine struct {
	mu     sync.Mutex
	rng    *rand.Rand
	root   *dir
	most   int64 // the room of the disk in bytes, or 0
	locked bool  // files that are open can't be renamed or removed, as on Windows
}

// New returns an empty disk. What it leaves to chance follows from seed.
func New(seed uint64) *Disk {
	return &Disk{m: &machine{rng: newRand(seed), root: newDir()}}
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// Restart ends the process, but not the machine: it returns the disk as the next process sees it. From then on,
// everything fails that the first process does.
func (d *Disk) Restart() *Disk {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	d.off = true
	return &Disk{m: d.m}
}

// find returns the directory of a name, and the last element of the name.
func (m *machine) find(name string) (in *dir, base string, err error) {
	in = m.root
	above, base := filepath.Split(filepath.Clean(name))
	for _, part := range split(above) {
		in = in.now[part].dir
		if in == nil {
			return nil, "", fs.ErrNotExist
		}
	}
	return in, base, nil
}

// findDir returns a directory.
func (m *machine) findDir(name string) (*dir, error) {
	in, _, err := m.find(filepath.Join(name, "any"))
	return in, err
}

// split returns the elements of a name.
func split(name string) []string {
	name = strings.Trim(filepath.ToSlash(filepath.Clean(name)), "/")
	if name == "." || name == "" {
		return nil
	}
	return strings.Split(name, "/")
}

// MkdirAll makes a directory, and those above it.
func (d *Disk) MkdirAll(name string) error {
	return d.do(Mkdir, name, func() error {
		in := d.m.root
		for _, part := range split(name) {
			if in.now[part].dir == nil {
				if d.refusal != nil {
					return d.refusal
				}
				in.change(link{part, entry{dir: newDir()}})
			}
			in = in.now[part].dir
		}
		return nil
	})
}

// List returns the names in a directory.
func (d *Disk) List(name string) (names []string, err error) {
	err = d.do(List, name, func() error {
		in, err := d.m.findDir(name)
		if err != nil {
			return err
		}
		for name := range in.now {
			names = append(names, name)
		}
		slices.Sort(names)
		return nil
	})
	return names, err
}

// Create makes an empty file, instead of the one that there may be.
func (d *Disk) Create(name string) (f filelog.File, err error) {
	err = d.do(Create, name, func() error {
		in, base, err := d.m.find(name)
		if err != nil {
			return err
		}
		n := in.now[base].file
		if n == nil {
			n = new(file)
			in.change(link{base, entry{file: n}})
		}
		n.truncate()
		f = d.handle(n, name)
		return nil
	})
	return f, err
}

// Open opens a file.
func (d *Disk) Open(name string) (f filelog.File, err error) {
	err = d.do(Open, name, func() error {
		n, err := d.m.file(name)
		if err = cmp.Or(err, d.refusal); err != nil {
			return err
		}
		f = d.handle(n, name)
		return nil
	})
	return f, err
}

// file returns the file with a name.
func (m *machine) file(name string) (*file, error) {
	in, base, err := m.find(name)
	if err != nil {
		return nil, err
	}
	if n := in.now[base].file; n != nil {
		return n, nil
	}
	return nil, fs.ErrNotExist
}

// Rename renames a file within its directory, instead of the one that there may be.
func (d *Disk) Rename(from, to string) error {
	return d.do(Rename, from, func() error {
		in, base, err := d.m.find(from)
		if err != nil {
			return err
		}
		other, target, err := d.m.find(to)
		if err == nil && other != in {
			err = fs.ErrInvalid
		}
		for _, name := range []string{base, target} {
			if n := in.now[name].file; n != nil && n.handles > 0 && d.m.locked {
				return fs.ErrPermission
			}
		}
		if err == nil && in.now[base].file == nil {
			err = fs.ErrNotExist
		}
		if err == nil {
			in.change(move{base, target, in.now[base]})
		}
		return err
	})
}

// Remove removes a file.
func (d *Disk) Remove(name string) error {
	return d.do(Remove, name, func() error {
		n, err := d.m.file(name)
		if err != nil {
			return err
		}
		if n.handles > 0 && d.m.locked {
			return fs.ErrPermission
		}
		in, base, _ := d.m.find(name)
		in.change(unlink{base})
		return nil
	})
}

// SyncDir makes the changes of a directory durable. If it fails, a later one can still do that.
func (d *Disk) SyncDir(name string) error {
	return d.do(SyncDir, name, func() error {
		in, err := d.m.findDir(name)
		if err == nil {
			in.sync()
		}
		return err
	})
}

// OpenDir returns a directory for syncing. Windows does not keep others from removing or renaming files in it.
func (d *Disk) OpenDir(name string) (filelog.Dir, error) { return dirHandle{d, name}, nil }

type dirHandle struct {
	disk *Disk
	name string
}

func (h dirHandle) Sync() error { return h.disk.SyncDir(h.name) }
func (dirHandle) Close() error  { return nil }
