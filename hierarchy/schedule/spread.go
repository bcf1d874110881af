package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
	"unique"
)

// MaxSpread is the longest window of Spread.
const MaxSpread = 366 * 24 * time.Hour

// Spread returns the schedule whose runs are later than those of s, by a delay of whole seconds that is less than window
// and depends on the key alone. So the jobs of many customers, or of many machines, need not all begin at midnight, and
// still each begins at the same time every night, on whichever machine and in whichever version of the program.
//
// The result is a Schedule like any other: it is comparable, and String writes the delay as SPREAD=, which Parse reads. A
// delay that s has already is replaced. A change of clocks during the delay makes no difference: it passes on a
// stopwatch. If s is "@every" or the zero Schedule, or window is less than a second, Spread returns s without a delay.
// Spread panics if window is longer than MaxSpread.
func Spread(s Schedule, window time.Duration, key string) Schedule {
	if window > MaxSpread {
		panic(fmt.Sprintf("schedule: Spread: the window %v is longer than %v", window, MaxSpread))
	}
	if s == (Schedule{}) {
		return s
	}
	p := s.parsed.Value()
	if p.every > 0 {
		return s
	}
	p.spread = 0
	if seconds := window / time.Second; seconds > 0 {
		hash := sha256.Sum256([]byte(key))
		p.spread = time.Duration(binary.BigEndian.Uint64(hash[:])%uint64(seconds)) * time.Second
	}
	return Schedule{unique.Make(p)}
}
