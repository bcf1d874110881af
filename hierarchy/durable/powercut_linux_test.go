package durable_test

import (
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var cuts = flag.Int("cuts", 3, "how often the power of the block device is cut")

// disk is a block device with a file system, which has its contents in a file. What the file system has not given to
// the device is lost when the power is cut.
type disk struct {
	t      *testing.T
	image  string
	device string
	dir    string // where the file system is mounted
}

// command runs a command, and returns what it says.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s %q: %s", name, args, out)
	return strings.TrimSpace(string(out))
}

// newDisk makes a disk, or skips the test where that is not possible.
func newDisk(t *testing.T) *disk {
	if os.Geteuid() != 0 {
		t.Skip("only root mounts file systems")
	}
	for _, tool := range []string{"losetup", "mkfs.ext4", "mount"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	image := filepath.Join(t.TempDir(), "image")
	require.NoError(t, os.WriteFile(image, nil, 0o600))
	require.NoError(t, os.Truncate(image, 96<<20))
	command(t, "mkfs.ext4", "-q", image)
	d, err := mount(t, image)
	if err != nil {
		t.Skip(err)
	}
	return d
}

// mount starts the disk whose contents are in a file, as after the power was cut.
func mount(t *testing.T, image string) (*disk, error) {
	out, err := exec.Command("losetup", "--find", "--show", image).Output()
	if err != nil {
		return nil, err
	}
	d := &disk{t, image, strings.TrimSpace(string(out)), t.TempDir()}
	t.Cleanup(d.remove)
	return d, exec.Command("mount", d.device, d.dir).Run()
}

// remove takes the disk away. It may be called twice.
func (d *disk) remove() {
	if d.device != "" {
		_ = exec.Command("umount", "--lazy", d.dir).Run()
		_ = exec.Command("losetup", "--detach", d.device).Run()
		d.device = ""
	}
}

// cut returns a disk with what this one has now, without what is in the memory of the system. Nobody must be writing.
func (d *disk) cut() *disk {
	image := filepath.Join(d.t.TempDir(), "image")
	for before := ""; ; { // until the system has written nothing meanwhile
		from, err := os.Open(d.image)
		require.NoError(d.t, err)
		to, err := os.Create(image)
		require.NoError(d.t, err)
		before = d.written()
		_, err = io.Copy(to, from)
		require.NoError(d.t, err)
		require.NoError(d.t, from.Close())
		require.NoError(d.t, to.Close())
		if before == d.written() {
			break
		}
	}
	next, err := mount(d.t, image)
	require.NoError(d.t, err)
	d.remove()
	require.NoError(d.t, os.Remove(d.image))
	return next
}

// written returns the figures of the device, which change with each write.
func (d *disk) written() string {
	stat, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(d.device), "stat"))
	require.NoError(d.t, err)
	return string(stat)
}

// The power of a block device is cut at random moments, again and again. What was acknowledged is there.
func TestPowerCutsOfABlockDevice(t *testing.T) {
	if os.Getenv("EPICYCLE_LONG") == "" {
		t.Skip("EPICYCLE_LONG=1 runs it")
	}
	d := newDisk(t)
	h := history{}
	acknowledged := 0
	for range *cuts {
		cmd, lines := startWorker(t, filepath.Join(d.dir, "timers"))
		said := []string{lines.Text()}
		heard := make(chan struct{})
		go func() {
			defer close(heard)
			for lines.Scan() {
				said = append(said, lines.Text())
			}
		}()
		time.Sleep(time.Duration(100+rand.IntN(400)) * time.Millisecond)
		require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
		time.Sleep(100 * time.Millisecond) // calls that are in the kernel return, but nobody is told
		next := d.cut()
		require.NoError(t, cmd.Process.Kill())
		<-heard
		_ = cmd.Wait()
		d = next
		acknowledged += h.apply(t, said)
		h.compare(t, filepath.Join(d.dir, "timers"))
	}
	d.remove()
	t.Logf("%d acknowledged operations", acknowledged)
}
