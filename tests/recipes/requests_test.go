package recipes

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// withTimeout gives every request a deadline.
func withTimeout(w *hierarchy.Wheel, d time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := w.WithTimeout(r.Context(), d)
		defer cancel()
		next.ServeHTTP(rw, r.WithContext(ctx))
	})
}

func Example_requestDeadlines() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()

	slow := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		<-r.Context().Done() // as a database query would
		http.Error(rw, r.Context().Err().Error(), http.StatusGatewayTimeout)
	})
	answer := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		withTimeout(w, 2*time.Second, slow).ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	}()
	_ = m.WaitFor(context.Background(), 1) // waits until the request has its deadline
	m.Add(2 * time.Second)
	<-done
	fmt.Print(answer.Code, " ", answer.Body)
	// Output: 504 context deadline exceeded
}
