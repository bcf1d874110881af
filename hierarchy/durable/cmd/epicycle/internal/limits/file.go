package limits

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
)

// File keeps limits in a file, of one process alone.
type File struct {
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
func OpenFile(path string, changed func(All)) (*File, error) {
	f := &File{path: path, changed: changed, all: make(All)}
	data, err := os.ReadFile(path)
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
	if err == nil {
		err = f.write(all)
	}
	if err != nil {
		return l, err
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
	if err := writeSynced(next, data); err != nil {
		return err
	}
	if err := os.Rename(next, f.path); err != nil {
		return err
	}
	return filelog.OS{}.SyncDir(filepath.Dir(f.path))
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Close implements Keeper.
func (f *File) Close() {}
