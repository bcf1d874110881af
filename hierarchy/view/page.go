package view

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The page is written in several files, and served as one.
//
//go:embed page/*.html page/*.css page/*.js
var files embed.FS

// scripts are in the order in which they are run.
var scripts = []string{
	"format.js", "rings.js", "hands.js", "cascade.js",
	"figures.js", "lateness.js", "tables.js", "stream.js",
}

// document is the page with all that it needs, and what it may do.
type document struct {
	text   []byte
	policy string // Content-Security-Policy
	tag    string // ETag
}

// thePage is put together when somebody first looks at it.
var thePage = sync.OnceValue(func() document {
	var all strings.Builder
	all.WriteString("\n'use strict';\n{\n")
	for _, name := range scripts {
		all.WriteString(file(name))
	}
	all.WriteString("}\n")
	style, script := "\n"+file("style.css"), all.String()
	text := strings.Replace(file("page.html"), "/*style*/", style, 1)
	text = strings.Replace(text, "/*script*/", script, 1)
	return document{text: []byte(text), policy: policy(style, script), tag: `"` + hash(text) + `"`}
})

func file(name string) string {
	text, err := files.ReadFile("page/" + name)
	if err != nil {
		panic("view: " + err.Error()) // it is in the binary
	}
	return string(text)
}

// policy allows what is in the page, and what it asks for, to the byte.
func policy(style, script string) string {
	return fmt.Sprintf("default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; connect-src 'self'; "+
		"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'", hash(script), hash(style))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func servePage(w http.ResponseWriter, r *http.Request) {
	p := thePage()
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", p.policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache") // asked for again each time, and sent if it has changed
	h.Set("ETag", p.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.text))
}
