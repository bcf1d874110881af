package clock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The reader waits up for an alarm that somebody else then rings, and does not
// take that for the end.
func TestReaderStaysWhenBackupWasFirst(t *testing.T) {
	k, opened := patient()
	a, rings := on(k)
	for range 2000 {
		k.mu.Lock()
		k.lead.d, k.strain.left = longestLead, 0
		k.mu.Unlock()
		at := sinceEpoch() + longestLead
		a.Set(at)
		for sinceEpoch() < at {
		}
		go k.backUp()
		<-rings
	}
	require.EqualValues(t, 1, opened.Load())
	a.Stop()
	requireGone(t)
}

// An alarm that was stopped while another rang does not end the reader early.
func TestReaderStaysAfterStopWhileOtherRings(t *testing.T) {
	k, opened := patient()
	a, rings := on(k)
	b, _ := on(k)
	for range 50 {
		a.Set(0)
		b.Set(sinceEpoch() + time.Millisecond)
		b.Stop()
		<-rings
		time.Sleep(2 * time.Millisecond) // past what b was set to
	}
	require.EqualValues(t, 1, opened.Load())
	a.Stop()
	requireGone(t)
}
