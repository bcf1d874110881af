package wheelclock_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/adapters/internal/wheelclock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// While timers fire, are stopped and reset, each setting ends once: its value is received, or
// Stop or Reset says true. This holds for a wheel that is full, too.
func TestEachSettingEndsOnce(t *testing.T) {
	for name, limit := range map[string]int{"free": 0, "full": 1} {
		t.Run(name, func(t *testing.T) {
			w, err := hierarchy.New(hierarchy.Config{Clock: clock.System(), Precision: 1, MaxPending: limit})
			require.NoError(t, err)
			defer w.Stop()
			_, err = w.AfterFunc(time.Hour, func() {})
			require.NoError(t, err)
			var users sync.WaitGroup
			for range 4 {
				users.Go(func() { settings(t, wheelclock.New(w, "test")) })
			}
			users.Wait()
			require.Equal(t, 1, w.Len())
		})
	}
}

func settings(t *testing.T, c wheelclock.Clock) {
	const rounds = 500
	timer := c.NewTimer(time.Microsecond)
	ended := 0
	for n := range rounds {
		if n%3 == 0 { // at about the time when it fires
			time.Sleep(time.Microsecond)
		}
		if n%5 == 0 {
			<-timer.C
			ended++
			if timer.Stop() {
				t.Error("received and stopped")
			}
			timer.Reset(time.Duration(n%7) * time.Microsecond)
		} else if timer.Reset(time.Duration(n%7) * time.Microsecond) {
			ended++
		}
	}
	if timer.Stop() {
		ended++
	}
	select {
	case <-timer.C:
		t.Error("received after Stop")
	default:
	}
	if ended != rounds+1 {
		t.Errorf("%d settings, %d ends", rounds+1, ended)
	}
}
