//go:build !unix

package child

import "errors"

// CanStop reports whether a process can be stopped for a while on this system.
const CanStop = false

// Stop returns an error, since this system can't stop a process.
func (p *Process) Stop() error { return errors.ErrUnsupported }

// GoOn returns an error, since this system can't stop a process.
func (p *Process) GoOn() error { return errors.ErrUnsupported }
