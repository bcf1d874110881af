// Package page is the page of a server: a table of timers, and the live page of package view. If the server requires a
// token, the page prompts for the token, and keeps it in the browser's session.
package page

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed files
var files embed.FS

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// Register registers the page at / and its files under /page/.
func Register(mux *http.ServeMux) {
	sub, err := fs.Sub(files, "files")
	if err != nil {
		panic(err) // impossible, since the name is valid
	}
	serve := http.FileServerFS(sub)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-cache")
		serve.ServeHTTP(w, r)
	})
	mux.Handle("GET /page/", http.StripPrefix("/page", serve))
}
