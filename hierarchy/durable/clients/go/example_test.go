package epicycle_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/clients/go"
)

// A receiver of webhooks refuses those that are not from the server.
func ExampleVerifier() {
	verifier, err := epicycle.NewVerifier("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		panic(err)
	}
	receive := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		delivery, err := verifier.Verify(r.Header, body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		fmt.Println(delivery.Key, string(delivery.Value))
	}
	answer := httptest.NewRecorder()
	receive(answer, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"id":17}`)))
	fmt.Println(answer.Code)
	// Output: 401
}
