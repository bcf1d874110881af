package api

import "errors"

var errDraining = errors.New("this server is shutting down")

// ready returns an error if timers can't be set or don't fire.
func (a *API) ready() error {
	if a.Service.Draining() {
		return errDraining
	}
	return a.Service.Health()
}
