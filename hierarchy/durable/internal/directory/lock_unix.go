//go:build unix

package directory

import "os"

// acquire locks a file. The kernel unlocks it when the process ends, for whatever reason.
func acquire(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err = tryLock(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func release(lock *os.File) { lock.Close() }
