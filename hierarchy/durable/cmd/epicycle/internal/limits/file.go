package limits

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
)

// File keeps limits in a file, of one process alone.
type File struct {
	disk    filelog.FS
	path    string
	changed func(All)

	mu  sync.Mutex
	all All
}

// kept is a limit in a file.
type kept struct {
	Scope
	Limit
}

// OpenFile reads the limits of a file, which need not exist, and calls changed with them, and after each change.
func OpenFile(disk filelog.FS, path string, changed func(All)) (*File, error) {
	f := &File{disk: disk, path: path, changed: changed, all: make(All)}
	data, err := f.read()
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	var list []kept
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	for _, one := range list {
		s, e := Parse(string(one.Kind), one.Name)
		if err = errors.Join(err, e, one.Limit.Check()); err == nil && !one.Limit.IsZero() {
			f.all[s] = one.Limit
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, errUnreadable, err)
	}
	changed(f.all)
	return f, nil
}

// Change implements Keeper.
func (f *File) Change(_ context.Context, s Scope, change func(Limit) (Limit, error)) (Limit, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, l, err := f.all.with(s, change)
	if err != nil {
		return l, err
	}
	if err := f.write(all); err != nil {
		return l, fmt.Errorf("%w: %w", ErrUnkept, err)
	}
	f.all = all
	f.changed(all)
	return l, nil
}

// write replaces the file: after a crash, it has the limits of before or these.
func (f *File) write(all All) error {
	list := make([]kept, 0, len(all))
	for s, l := range all {
		list = append(list, kept{s, l})
	}
	slices.SortFunc(list, func(a, b kept) int { return strings.Compare(a.Scope.String(), b.Scope.String()) })
	data, err := json.MarshalIndent(list, "", "\t")
	if err != nil {
		return err
	}
	next := f.path + ".new"
	if err := f.writeSynced(next, append(data, '\n')); err != nil {
		return err
	}
	if err := f.disk.Rename(next, f.path); err != nil {
		return err
	}
	return f.disk.SyncDir(filepath.Dir(f.path))
}

func (f *File) writeSynced(path string, data []byte) error {
	file, err := f.disk.Create(path)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(data, 0)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func (f *File) read() ([]byte, error) {
	file, err := f.disk.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	data := make([]byte, size)
	_, err = file.ReadAt(data, 0)
	return data, err
}

// Close implements Keeper.
func (f *File) Close() {}
