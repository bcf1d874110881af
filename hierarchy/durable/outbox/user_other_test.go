//go:build !linux

package outbox_test

import "os/exec"

func ownByPostgres(string) error       { return nil }
func asPostgres(c *exec.Cmd) *exec.Cmd { return c }
