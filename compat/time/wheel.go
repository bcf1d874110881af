package time

import (
	"github.com/epicycle-go/epicycle/compat/internal/process"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// Wheel returns the figures of the wheel that the timers are on. view.Handler of
// hierarchy/view shows them on a page. The wheel can't be stopped.
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
