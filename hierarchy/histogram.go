package hierarchy

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"time"
)

// Durations are counted in buckets: 8 for each power of two, and one for each of the first
// 8 nanoseconds. So a bucket is at most an eighth as wide as the durations in it.
const (
	bucketBits = 3
	perPower   = 1 << bucketBits
	buckets    = (64 - bucketBits) * perPower
)

// histogram counts durations. Each costs an array index and three additions. The first one
// makes the buckets.
type histogram struct {
	count  uint64
	sum    float64
	max    int64
	bucket *[buckets]uint64
}

func (h *histogram) add(d int64) {
	if h.bucket == nil {
		h.bucket = new([buckets]uint64)
	}
	h.bucket[bucketFor(d)]++
	h.count++
	h.sum += float64(d)
	h.max = max(h.max, d)
}

// merge adds the counts of g.
func (h *histogram) merge(g *histogram) {
	if g.bucket == nil {
		return
	}
	if h.bucket == nil {
		h.bucket = new([buckets]uint64)
	}
	for i, n := range g.bucket {
		h.bucket[i] += n
	}
	h.count += g.count
	h.sum += g.sum
	h.max = max(h.max, g.max)
}

// bucketFor is the bucket of d.
func bucketFor(d int64) int {
	u := uint64(max(0, d))
	if u < perPower {
		return int(u)
	}
	power := bits.Len64(u) - 1 - bucketBits
	return power<<bucketBits + int(u>>uint(power))
}

// bucketEnd is the largest duration in bucket b.
func bucketEnd(b int) int64 {
	if b < perPower {
		return int64(b)
	}
	power := b>>bucketBits - 1
	u := (uint64(b&(perPower-1))+perPower+1)<<uint(power) - 1
	return int64(min(u, math.MaxInt64))
}

// Histogram is a distribution of durations: a snapshot in Stats, or one that is filled with Add
// and Merge. Quantiles are exact to an eighth of their value. The zero Histogram is empty.
//
// Methods with a value receiver may be called concurrently, unless Add or Merge changes the
// Histogram meanwhile. Do not copy a Histogram to which more is added, since the copy shares
// memory with it. Merge it into an empty one instead.
type Histogram struct{ h histogram }

// Add counts d. A negative d counts as 0. It costs some nanoseconds, and the first one allocates
// about four kilobytes.
func (h *Histogram) Add(d time.Duration) { h.h.add(int64(max(0, d))) }

// Merge counts all that g has counted. It costs about a microsecond.
func (h *Histogram) Merge(g Histogram) { h.h.merge(&g.h) }

// Count returns how many durations were counted.
func (h Histogram) Count() uint64 { return h.h.count }

// Max returns the longest of them, exactly.
func (h Histogram) Max() time.Duration { return time.Duration(h.h.max) }

// Mean returns their mean.
func (h Histogram) Mean() time.Duration {
	if h.h.count == 0 {
		return 0
	}
	return time.Duration(h.h.sum / float64(h.h.count))
}

// Quantile returns a duration that a share q of them does not exceed: the median for 0.5,
// the 99th percentile for 0.99. A q below 0 means 0, and a q above 1 means 1. The quantiles
// of an empty Histogram are 0.
func (h Histogram) Quantile(q float64) time.Duration {
	if h.h.count == 0 {
		return 0
	}
	rank := max(1, uint64(math.Ceil(min(max(q, 0), 1)*float64(h.h.count))))
	seen := uint64(0)
	for b, n := range h.h.bucket {
		if seen += n; seen >= rank {
			return time.Duration(min(bucketEnd(b), h.h.max))
		}
	}
	return h.Max()
}

// String returns the median, two higher quantiles and the maximum, rounded to three digits.
func (h Histogram) String() string {
	if h.h.count == 0 {
		return "nothing counted"
	}
	return fmt.Sprintf("p50 %v, p99 %v, p99.9 %v, max %v",
		rounded(h.Quantile(0.5)), rounded(h.Quantile(0.99)), rounded(h.Quantile(0.999)), rounded(h.Max()))
}

// rounded is d to three digits.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// Buckets iterates over the buckets that are not empty, from the shortest durations to the
// longest. For each it yields the longest duration that the bucket can hold and how many it
// holds. The bounds are the same in every Histogram, so the buckets of several can be
// added, and those of an earlier snapshot subtracted.
func (h Histogram) Buckets() iter.Seq2[time.Duration, uint64] {
	return func(yield func(time.Duration, uint64) bool) {
		if h.h.bucket == nil {
			return
		}
		for b, n := range h.h.bucket {
			if n > 0 && !yield(time.Duration(bucketEnd(b)), n) {
				return
			}
		}
	}
}
