package engine

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBucketsFollowEachOtherWithoutGap(t *testing.T) {
	for b := range bucketFor(math.MaxInt64) {
		end := BucketEnd(b)
		require.Equal(t, b, bucketFor(end), "the last of bucket %d", b)
		require.Equal(t, b+1, bucketFor(end+1), "the first after bucket %d", b)
	}
	require.Equal(t, int64(math.MaxInt64), BucketEnd(bucketFor(math.MaxInt64)))
	require.Zero(t, bucketFor(-1))
}
