package command

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// A PUT costs the server and its client this much, and one that is answered without doing anything.
func BenchmarkPut(b *testing.B) {
	b.Run("impl=epicycle/n=64", func(b *testing.B) { benchPut(b, serve(b).url) })
	b.Run("impl=nothing/n=64", func(b *testing.B) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"key":"1","value":{"id":17},"to":{"queue":"q"},"due":"2030-01-01T00:00:00Z","state":"waiting"}`)
		}))
		defer s.Close()
		benchPut(b, s.URL)
	})
}

// benchPut makes requests on 64 connections.
func benchPut(b *testing.B, url string) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	var n atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			req, _ := http.NewRequest("PUT", fmt.Sprintf("%s/v1/timers/%d", url, n.Add(1)), strings.NewReader(`{"in":"1h","value":{"id":17},"to":{"queue":"q"}}`))
			resp, err := client.Do(req)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "PUT/s")
}
