package filelog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// FS is what a log needs of a file system. What was changed in a directory survives a loss of power once SyncDir has
// returned, and what was written to a file once Sync has.
type FS interface {
	MkdirAll(dir string) error
	List(dir string) (names []string, err error) // without order
	Create(name string) (File, error)            // an empty file, instead of the one that there may be
	Open(name string) (File, error)              // for reading and writing
	Rename(from, to string) error                // replaces the file that there may be
	Remove(name string) error
	SyncDir(dir string) error
	OpenDir(dir string) (Dir, error) // for syncing it also when no further file can be opened
}

// Dir is an open directory.
type Dir interface {
	Sync() error
	io.Closer
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Sync() error
}

// passing returns what keeps a file from being created or written if that goes by and loses nothing, otherwise "".
func passing(err error) string {
	for _, full := range noRoom {
		if errors.Is(err, full) {
			return "the disk is full"
		}
	}
	for _, many := range tooMany {
		if errors.Is(err, many) {
			return "too many files are open"
		}
	}
	return ""
}

// isBusy reports whether a file was not renamed because another program has it open, such as one that looks for viruses.
func isBusy(err error) bool {
	return slices.ContainsFunc(busy, func(kind error) bool { return errors.Is(err, kind) })
}

// Explained adds to an error of a file system what it lacks, if that goes by.
func Explained(err error) error {
	if what := passing(err); what != "" {
		return fmt.Errorf("%s: %w", what, err)
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, readOnly) {
		return fmt.Errorf("%w: %w", storage.ErrDenied, err)
	}
	return err
}
