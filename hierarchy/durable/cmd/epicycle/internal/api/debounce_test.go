package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// Each request with debounce moves the timer to quiet from now, but not beyond longest after the first, alone and in a batch.
func TestDebounce(t *testing.T) {
	mock := clock.NewMock()
	a := newAPI(t, func(cfg *durable.Config[string, task.Task]) { cfg.Clock = mock })
	begin := mock.Now()
	put := func(value, quiet string) (due time.Duration) {
		timer := ask(t, a, "PUT", "/v1/timers/k",
			`{"value":`+value+`,"debounce":{"quiet":"`+quiet+`","longest":"12s"},"to":{"queue":"q"}}`, 200)
		require.Equal(t, value, string(timer.Value))
		require.Equal(t, ask(t, a, "GET", "/v1/timers/k", "", 200), timer)
		return timer.Due.Sub(begin)
	}
	require.Equal(t, 5*time.Second, put("1", "5s"))
	mock.Add(4 * time.Second)
	require.Equal(t, 9*time.Second, put("2", "5s"))
	require.Equal(t, 12*time.Second, put("3", "1h"))
	ask(t, a, "POST", "/v1/batch", `{"operations":[
		{"op":"set","key":"k","value":4,"debounce":{"quiet":"1ms","longest":"12s"},"to":{"queue":"q"}},
		{"op":"set","key":"k","value":5,"debounce":{"quiet":"1m","longest":"11.5s"},"to":{"queue":"q"}}]}`, 200)
	timer := ask(t, a, "GET", "/v1/timers/k", "", 200)
	require.Equal(t, "5", string(timer.Value))
	require.Equal(t, 11500*time.Millisecond, timer.Due.Sub(begin))

	ask(t, a, "PUT", "/v1/timers/k", `{"in":"1h","to":{"queue":"q"}}`, 200)
	require.Equal(t, 9*time.Second, put("6", "5s"), "another run")
}
