//go:build !linux

package postgres

import "os/exec"

func own(string) error             { return nil }
func asUser(c *exec.Cmd) *exec.Cmd { return c }
