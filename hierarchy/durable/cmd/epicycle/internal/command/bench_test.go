package command

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// A PUT costs the server and its client this much.
func BenchmarkPut(b *testing.B) {
	s := serve(b)
	var n atomic.Int64
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			req, _ := http.NewRequest("PUT", fmt.Sprintf("%s/v1/timers/%d", s.url, n.Add(1)), strings.NewReader(`{"in":"1h","value":{"id":17},"to":{"queue":"q"}}`))
			resp, err := testClient.Do(req)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	})
}
