package recipes

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/view"
)

func Example_view() {
	w, _ := hierarchy.New(hierarchy.Config{})
	defer w.Stop()

	mux := http.NewServeMux()
	mux.Handle("/debug/wheel/", view.Handler(w))

	server := httptest.NewServer(mux)
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	answer, err := http.Get(server.URL + "/debug/wheel/")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	page, _ := io.ReadAll(answer.Body)
	fmt.Println(answer.Status, strings.HasPrefix(strings.ToLower(string(page)), "<!doctype html>"))
	// Output: 200 OK true
}
