//go:build !linux

package child

import "os/exec"

// endWithParent is left to the process, which reads its input.
func endWithParent(*exec.Cmd) {}
