//go:build !unix

package main

import (
	"errors"
	"os"
)

// canStop tells whether a process can be stopped for a while here.
const canStop = false

func stop(*os.Process) error { return errors.ErrUnsupported }

func goOn(*os.Process) error { return errors.ErrUnsupported }
