package time

import (
	"github.com/epicycle-go/epicycle/compat/internal/process"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// Wheel returns the figures of the wheel on which the timers are. view.Handler of hierarchy/view shows them on a page.
// The result gives no way to stop the wheel.
func Wheel() interface {
	Stats() hierarchy.Stats
	Circles() []hierarchy.CircleStats
} {
	return figures{}
}

// figures hides all other methods of the wheel of the process.
type figures struct{}

func (figures) Stats() hierarchy.Stats {
	if !process.Made() {
		return hierarchy.Stats{}
	}
	return process.Get().Stats()
}

func (figures) Circles() []hierarchy.CircleStats {
	if !process.Made() {
		return nil
	}
	return process.Get().Circles()
}
