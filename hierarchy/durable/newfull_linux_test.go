package durable_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Open of a new directory says that the disk is full, however little room there is, and whatever it lacks: blocks or
// files. When there is room, it works.
func TestOpenOfANewDirectoryOnAFullDisk(t *testing.T) {
	disk := os.Getenv(filled)
	if disk == "" {
		inNamespace(t)
		return
	}
	for _, limit := range []string{"size=%dk,nr_inodes=1000", "size=16m,nr_inodes=%d"} {
		for n, works := 1, false; !works; n++ {
			require.Less(t, n, 200)
			step := 4 // a page
			if limit[len(limit)-1] == 'd' {
				step = 1
			}
			mountDisk(t, disk, fmt.Sprintf(limit, n*step))
			cfg := durable.Config[string, string]{Dir: filepath.Join(disk, "new"), Handle: func(context.Context, firing) error { return nil }}
			if works = opensOrIsFull(t, cfg); !works {
				opensOrIsFull(t, cfg) // with what the first one has left
				require.NoError(t, syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=64m,nr_inodes=1000"))
				require.NoError(t, open(t, cfg).Close())
			}
			require.NoError(t, syscall.Unmount(disk, syscall.MNT_DETACH))
		}
	}
}

func mountDisk(t *testing.T, dir, limit string) {
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, limit)
	if errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	require.NoError(t, err)
}

// opensOrIsFull reports whether Open works. If not, it must say that the disk is full, and which.
func opensOrIsFull(t *testing.T, cfg durable.Config[string, string]) bool {
	ctx, cancel := context.WithTimeout(t.Context(), tooLong)
	defer cancel()
	w, err := durable.Open(ctx, cfg)
	if err == nil {
		require.NoError(t, w.Close())
		return true
	}
	requireIsFull(t, cfg, err)
	return false
}

// inNamespace runs the test in a copy of this program that may mount file systems, which nobody else sees, or skips
// it if the system does not let it.
func inNamespace(t *testing.T) {
	cmd := copyOf(t)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		t.Skip("no namespace for mounting: ", err)
	}
	require.NoError(t, err, "%s", out)
}
