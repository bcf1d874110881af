package state

import "math"

// MaxCount limits the number of a timer's attempts, and of the runs that a run makes up for, so that they are positive
// as an int of 32 bits, too. A count that has reached it stays there.
const MaxCount = math.MaxInt32

// AfterAttempt returns the number of the attempt that follows attempt n.
func AfterAttempt(n uint32) uint32 { return min(n, MaxCount-1) + 1 }
