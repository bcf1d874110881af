package api

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// A PUT costs this much without the connection.
func BenchmarkPut(b *testing.B) {
	a := newAPI(b)
	var n atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r := httptest.NewRequest("PUT", fmt.Sprintf("/v1/timers/%d", n.Add(1)), strings.NewReader(`{"in":"1h","value":{"order":17,"text":"`+strings.Repeat("x", 64)+`"},"to":{"queue":"q"}}`))
			r.Host = "localhost"
			w := httptest.NewRecorder()
			if a.ServeHTTP(w, r); w.Code != 200 {
				b.Error(w.Body)
			}
		}
	})
}
