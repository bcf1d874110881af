package engine

import (
	"math"
	"math/bits"
)

// Durations are counted in buckets: 8 for each power of two, and one for each of the first
// 8 nanoseconds. So a bucket is at most an eighth as wide as the durations in it.
const (
	bucketBits = 3
	perPower   = 1 << bucketBits
	buckets    = (64 - bucketBits) * perPower
)

// Durations counts durations. Counting a duration costs an array index and three additions. The first duration makes
// the buckets.
type Durations struct {
	Count  uint64
	Sum    float64
	Max    int64
	Bucket *[buckets]uint64
}

func (h *Durations) Add(d int64) {
	if h.Bucket == nil {
		h.Bucket = new([buckets]uint64)
	}
	h.Bucket[bucketFor(d)]++
	h.Count++
	h.Sum += float64(d)
	h.Max = max(h.Max, d)
}

// Merge adds the counts of g.
func (h *Durations) Merge(g *Durations) {
	if g.Bucket == nil {
		return
	}
	if h.Bucket == nil {
		h.Bucket = new([buckets]uint64)
	}
	for i, n := range g.Bucket {
		h.Bucket[i] += n
	}
	h.Count += g.Count
	h.Sum += g.Sum
	h.Max = max(h.Max, g.Max)
}

// bucketFor returns the bucket of d.
func bucketFor(d int64) int {
	u := uint64(max(0, d))
	if u < perPower {
		return int(u)
	}
	power := bits.Len64(u) - 1 - bucketBits
	return power<<bucketBits + int(u>>uint(power))
}

// BucketEnd returns the largest duration in bucket b.
func BucketEnd(b int) int64 {
	if b < perPower {
		return int64(b)
	}
	power := b>>bucketBits - 1
	u := (uint64(b&(perPower-1))+perPower+1)<<uint(power) - 1
	return int64(min(u, math.MaxInt64))
}
