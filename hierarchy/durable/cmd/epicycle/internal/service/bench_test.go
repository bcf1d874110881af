package service

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// BenchmarkHostsThatHang measures how late webhooks come to a host that answers, 200 each second, while others accept
// connections and never answer. Each of these has 20 timers that are due. If known is false, the first webhook to the host
// that answers is due when theirs are.
func BenchmarkHostsThatHang(b *testing.B) {
	for _, hosts := range []int{0, 300, 5000} {
		for _, known := range []bool{true, false} {
			b.Run(fmt.Sprintf("hosts=%d/known=%v", hosts, known), func(b *testing.B) { besideHanging(b, hosts, known) })
		}
	}
}

func besideHanging(b *testing.B, hosts int, known bool) {
	s := openSending(b, 16, durable.Config[string, task.Task]{})
	late := make(chan time.Duration, b.N+1)
	healthy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		due, err := time.Parse(time.RFC3339Nano, r.Header.Get("epicycle-due"))
		require.NoError(b, err)
		late <- time.Since(due)
	}))
	defer healthy.Close()
	if known {
		require.NoError(b, errOf(s.Set(b.Context(), "known", webhook(healthy.URL, time.Minute), 0)))
		<-late
	}
	all := hanging(b, hosts)
	const pause = 5 * time.Millisecond
	due := time.Now().Add(time.Second + time.Duration(hosts)*time.Millisecond) // when all are set
	timers := new(durable.Batch[string, task.Task])
	set := func(key, url string, at time.Time) {
		timers.SetAt(key, webhook(url, time.Hour), at)
		if timers.Len() == 1000 {
			require.NoError(b, s.Batch(b.Context(), timers))
			timers.Reset()
		}
	}
	for i, l := range all {
		for j := range 20 {
			set(fmt.Sprintf("hangs-%d-%d", i, j), "http://"+l.Addr().String(), due)
		}
	}
	for i := range b.N {
		set(fmt.Sprint("k", i), healthy.URL, due.Add(time.Duration(i)*pause))
	}
	require.NoError(b, s.Batch(b.Context(), timers))
	require.Negative(b, time.Since(due), "too late")
	b.ResetTimer()
	var lates []time.Duration
	for range b.N {
		lates = append(lates, <-late)
	}
	b.StopTimer()
	slices.Sort(lates)
	for _, p := range []int{50, 99} {
		b.ReportMetric(lates[len(lates)*p/100].Seconds()*1000, fmt.Sprintf("p%d-ms", p))
	}
	b.ReportMetric(lates[len(lates)-1].Seconds()*1000, "max-ms")
	b.ReportMetric(float64(s.Lanes().Hanging), "hanging")
}
