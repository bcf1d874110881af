//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner of the file that it replaces: root, in a container, changes the files of a user. Others
// can't change owners, and need not.
func keepOwner(f *os.File, info fs.FileInfo) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid))
	}
}
