package filelog

import (
	"errors"
	"os"
)

// OS is the file system of the machine.
type OS struct{}

func (OS) MkdirAll(dir string) error       { return os.MkdirAll(dir, 0o700) }
func (OS) Rename(from, to string) error    { return os.Rename(from, to) }
func (OS) Remove(name string) error        { return os.Remove(name) }
func (OS) OpenDir(dir string) (Dir, error) { return openDir(dir) }

func (OS) SyncDir(dir string) error {
	d, err := openDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (OS) List(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (OS) Create(name string) (File, error) {
	return openFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (OS) Open(name string) (File, error) { return openFile(name, os.O_RDWR) }

func openFile(name string, flag int) (File, error) {
	f, err := os.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
