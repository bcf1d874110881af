package api

import (
	"errors"
	"fmt"
	"time"
)

var (
	errDraining = errors.New("this server is shutting down")
	errNobody   = errors.New("this server owns no partitions")
)

// ready returns why timers can't be set or don't fire.
func (a *API) ready() error {
	if a.Service.Draining() {
		return errDraining
	}
	st := a.Service.Stats()
	var errs []error
	for i, p := range st.Partitions {
		if p.Err != nil {
			errs = append(errs, fmt.Errorf("partition %d: %w", i, p.Err))
		}
		if !p.Unavailable.IsZero() {
			errs = append(errs, fmt.Errorf("partition %d has not answered for %v", i, time.Since(p.Unavailable).Round(time.Second)))
		}
	}
	if st.Owned == 0 && len(st.Members) < 2 && len(errs) == 0 {
		errs = append(errs, errNobody)
	}
	return errors.Join(errs...)
}
