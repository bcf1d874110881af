package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// The runs of a schedule are from one time until another, each later by what the key determines, and the timer ends with
// the last, alone and in a batch.
func TestRunsOfASchedule(t *testing.T) {
	mock := clock.NewMock()
	mock.Set(time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC))
	a := newAPI(t, func(cfg *durable.Config[string, task.Task]) { cfg.Clock = mock })
	set := `"schedule":"@daily","spread":"1h","from":"2030-01-10T00:00:00Z","until":"2030-01-11T00:12:03Z","to":{"queue":"q"}}`
	timer := ask(t, a, "PUT", "/v1/timers/customer-17", "{"+set, 200)
	require.Equal(t, "FROM=2030-01-10T00:00:00Z UNTIL=2030-01-11T00:12:03Z SPREAD=12m3s @daily", timer.Schedule)
	require.Equal(t, time.Date(2030, 1, 10, 0, 12, 3, 0, time.UTC), timer.Due)
	ask(t, a, "POST", "/v1/batch", `{"operations":[{"op":"set","key":"customer-18",`+set+`]}`, 200)
	require.Contains(t, ask(t, a, "GET", "/v1/timers/customer-18", "", 200).Schedule, "FROM=2030-01-10T00:00:00Z")

	again := ask(t, a, "PUT", "/v1/timers/customer-17", `{"schedule":"`+timer.Schedule+`","to":{"queue":"q"}}`, 200)
	require.Equal(t, timer.Schedule, again.Schedule)
	require.Equal(t, timer.Due, again.Due)
}
