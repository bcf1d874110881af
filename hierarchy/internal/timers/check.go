package timers

import (
	"fmt"
	"reflect"

	"github.com/epicycle-go/epicycle/level/arena"
)

// Check returns the first broken invariant, of the circles and of the values, for tests.
func (t *Timers[T]) Check() error {
	if err := t.Circles.Check(); err != nil {
		return err
	}
	live := make(map[uint32]bool)
	t.Arena().Each(func(i uint32, _ *arena.Node) { live[i] = true })
	for c, values := range t.values.chunks {
		for e := range values {
			i := uint32(c<<t.values.bits | e)
			if !live[i] && !reflect.ValueOf(&values[e]).Elem().IsZero() {
				return fmt.Errorf("there is a value, but no timer %d", i)
			}
			delete(live, i)
		}
	}
	for i := range live {
		return fmt.Errorf("there is no room for the value of timer %d", i)
	}
	return nil
}
