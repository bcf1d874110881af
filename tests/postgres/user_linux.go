package postgres

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// serverUser returns the user and group of servers. ok reports whether they differ from the user and group of this
// process.
func serverUser() (uid, gid int, ok bool) {
	u, err := user.Lookup("postgres")
	if os.Getuid() != 0 || err != nil {
		return 0, 0, false
	}
	uid, _ = strconv.Atoi(u.Uid)
	gid, _ = strconv.Atoi(u.Gid)
	return uid, gid, true
}

func own(dir string) error {
	if uid, gid, ok := serverUser(); ok {
		return os.Chown(dir, uid, gid)
	}
	return nil
}

func asUser(c *exec.Cmd) *exec.Cmd {
	c.Dir = "/"
	c.SysProcAttr = &syscall.SysProcAttr{}
	if uid, gid, ok := serverUser(); ok {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return c
}
