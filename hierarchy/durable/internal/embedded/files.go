package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// errSync is for a failed sync. After it, it is unknown what is on the disk.
var errSync = errors.New("a sync has failed")

// syncFiles syncs the files of a directory that no server has open. If a server ended between a write and its sync, or
// its last sync failed while it closed its files, the next server would assume that everything it finds is on the disk.
//
// It fails if a file or a directory is not writable: the server would treat the stream as missing, and delete its
// messages when it fails to create it.
func syncFiles(dir string, sync func(*os.File) error) error {
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return access(name)
		case !d.Type().IsRegular():
			return nil
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := sync(f); err != nil {
			return fmt.Errorf("%w: %w", errSync, err)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) { // there are no files yet
		return nil
	}
	return err
}

// writable returns an error if this process can't create files in a directory. It creates the directory if there is
// none.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "probe")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// spareFiles is how many more files the process must be able to open before a server starts.
const spareFiles = 64

// canOpenFiles returns an error if the process can't open spareFiles more files at once. A server that can't open a
// file, or list a directory, when it starts, goes on as if the stream did not exist, and does not always report that.
func canOpenFiles(dir string) error {
	for range spareFiles {
		f, err := os.Open(dir)
		if err != nil {
			return err
		}
		defer f.Close()
	}
	return nil
}
