package schedule

import (
	"sync"
	"time"
	_ "time/tzdata" // a machine without time zones must be able to run schedules that another machine has set
)

// locations has the zones that were named, from names to *time.Location, so that Schedules are comparable.
var locations sync.Map

// locationNamed returns the zone of that name, always the same one.
func locationNamed(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	if known, ok := locations.Load(name); ok {
		return known.(*time.Location), nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	one, _ := locations.LoadOrStore(name, loc)
	return one.(*time.Location), nil
}
