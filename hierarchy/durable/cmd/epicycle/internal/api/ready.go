package api

import (
	"errors"
	"fmt"
)

var errDraining = errors.New("this server is shutting down")

// ready returns an error if timers can't be set or don't fire.
func (a *API) ready() error {
	if a.Service.Draining() {
		return errDraining
	}
	return a.Service.Health()
}

// remark returns what somebody should know of a server that is ready, or nothing.
func (a *API) remark() string {
	n := a.Service.Crowded()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d hosts that do not answer, or are new, wait for a place; hosts that do not answer have the others", n)
}
