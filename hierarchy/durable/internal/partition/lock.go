//go:build !lockorder

package partition

import "sync"

// mutex is a sync.Mutex. Builds with the tag lockorder check how it is used; see lock_checked.go.
type mutex struct{ sync.Mutex }

func (*mutex) isOuter()    {}
func (*mutex) assertHeld() {}
