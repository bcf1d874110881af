//go:build !unix

package child

import "errors"

// CanStop reports whether a process can be stopped for a while here.
const CanStop = false

// Stop is not possible.
func (p *Process) Stop() error { return errors.ErrUnsupported }

// GoOn is not possible.
func (p *Process) GoOn() error { return errors.ErrUnsupported }
