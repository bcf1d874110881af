package directory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/anchor"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
)

// dir is a directory of which this process opens, has open or closes logs.
type dir struct {
	path string

	users int             // guarded by dirs.mu
	logs  map[string]*Log // that are open, or being closed; guarded by dirs.mu

	mu     sync.Mutex // held while a log is being opened, and while the directory is being unlocked
	lock   *os.File   // nil if the directory is not locked
	anchor *anchor.Anchor
}

// dirs has the directories by their canonical names. One that hangs does not hold up another.
var dirs struct {
	mu  sync.Mutex
	all map[string]*dir
}

// use returns the directory with that path. leave must follow.
func use(path string) *dir {
	dirs.mu.Lock()
	defer dirs.mu.Unlock()
	if dirs.all == nil {
		dirs.all = make(map[string]*dir)
	}
	d := dirs.all[path]
	if d == nil {
		d = &dir{path: path, logs: make(map[string]*Log)}
		dirs.all[path] = d
	}
	d.users++
	return d
}

// leave unlocks the directory if nobody else uses it.
func (d *dir) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	dirs.mu.Lock()
	defer dirs.mu.Unlock()
	if d.users--; d.users > 0 {
		return
	}
	if delete(dirs.all, d.path); d.lock != nil {
		release(d.lock)
	}
}

// open opens a log. If the log of the name is being closed, open returns that instead.
func (d *dir) open(name string) (l, before *Log, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.ready(); err != nil {
		return nil, nil, err
	}
	if before, err := d.taken(name); before != nil || err != nil {
		return nil, before, err
	}
	if err := d.alike(name); err != nil {
		return nil, nil, err
	}
	l = &Log{dir: d, name: name, closed: make(chan struct{}), ready: make(chan struct{})}
	files := filepath.Join(d.logsDir(), name)
	l.Log, err = filelog.Open(filelog.OS{}, files)
	l.anchor = anchor.New(d.lock, files)
	if errors.Is(err, storage.ErrDamaged) {
		l.Damage, err = err, nil
	}
	if err != nil {
		return nil, nil, err
	}
	dirs.mu.Lock()
	defer dirs.mu.Unlock()
	d.logs[name] = l
	return l, nil, nil
}

// taken returns an error if the log of a name is open. If it is being closed, or not handed to
// anybody yet, taken returns it.
func (d *dir) taken(name string) (before *Log, err error) {
	dirs.mu.Lock()
	defer dirs.mu.Unlock()
	there := d.logs[name]
	if there == nil || there.ending || !there.handed() {
		return there, nil
	}
	return nil, fmt.Errorf("%w %q of this directory is open in this process", ErrName, name)
}

// ready locks the directory, if it is not locked.
func (d *dir) ready() (err error) {
	if d.lock != nil {
		if err := d.anchor.Check(); err != nil {
			return fmt.Errorf("%w, and has to be closed first", err)
		}
		return nil
	}
	if d.lock, err = acquire(filepath.Join(d.path, "lock")); err != nil {
		return err
	}
	if err := d.checkVersion(); err != nil {
		release(d.lock)
		d.lock = nil
		return err
	}
	d.anchor = anchor.New(d.lock, d.logsDir())
	return nil
}

// handed reports whether somebody has got the log from Open.
func (l *Log) handed() bool {
	select {
	case <-l.ready:
		return true
	default:
		return false
	}
}

// begin records that a log is being closed.
func (d *dir) begin(l *Log) {
	dirs.mu.Lock()
	defer dirs.mu.Unlock()
	l.ending = true
}

// end is called when a log is closed.
func (d *dir) end(l *Log) {
	dirs.mu.Lock()
	delete(d.logs, l.name)
	dirs.mu.Unlock()
	d.leave()
	close(l.closed)
}

func (d *dir) logsDir() string { return filepath.Join(d.path, "logs") }

// alike returns an error if the files of a log with that name could be taken for others on some system. File systems of
// macOS and Windows keep names that differ only in case in the same files.
func (d *dir) alike(name string) error {
	if isDevice(name) {
		return fmt.Errorf("the %w %q is that of a device on Windows", ErrName, name)
	}
	entries, err := os.ReadDir(d.logsDir())
	for _, e := range entries {
		if e.IsDir() && e.Name() != name && strings.EqualFold(e.Name(), name) {
			return fmt.Errorf("the directory has the %w %q, which some file systems do not tell from %q", ErrName, e.Name(), name)
		}
	}
	return err
}

// isDevice reports whether Windows takes a file with that name for a device, whatever follows a dot in it.
func isDevice(name string) bool {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (name[:3] == "com" || name[:3] == "lpt") && '0' <= name[3] && name[3] <= '9'
}

const version = "epicycle durable timers, logs of format 1\n"

// checkVersion checks the file that has the format of the directory, or creates it. The directory of the logs is created
// before that file. So if the file exists and the directory does not, the logs are lost.
func (d *dir) checkVersion() error {
	name := filepath.Join(d.path, "version")
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(d.logsDir(), 0o700); err != nil {
			return err
		}
		if err := (filelog.OS{}).SyncDir(d.path); err != nil {
			return err
		}
		return d.writeVersion(name)
	case err != nil:
		return err
	case string(data) != version:
		return fmt.Errorf("%w: its file %q says %.60q, and this program knows %.60q", errFormat, "version", data, version)
	}
	if _, err = os.Stat(d.logsDir()); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", storage.ErrDamaged, err)
	}
	return err
}

func (d *dir) writeVersion(name string) error {
	f, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	_, err = f.WriteString(version)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(name+".new", name); err != nil {
		return err
	}
	return filelog.OS{}.SyncDir(d.path)
}
