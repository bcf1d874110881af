package outbox_test

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// postgresUser returns the user and group as which a server runs, which must not be root: those that Debian's
// package makes.
func postgresUser() (uid, gid int, ok bool) {
	u, err := user.Lookup("postgres")
	if os.Getuid() != 0 || err != nil {
		return 0, 0, false
	}
	uid, _ = strconv.Atoi(u.Uid)
	gid, _ = strconv.Atoi(u.Gid)
	return uid, gid, true
}

func ownByPostgres(dir string) error {
	if uid, gid, ok := postgresUser(); ok {
		return os.Chown(dir, uid, gid)
	}
	return nil
}

func asPostgres(c *exec.Cmd) *exec.Cmd {
	c.Dir = "/"
	c.SysProcAttr = &syscall.SysProcAttr{}
	if uid, gid, ok := postgresUser(); ok {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return c
}
