package view

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Each page is served as one document, put together from several files.
//
//go:embed page/*.html page/*.css page/*.js
var files embed.FS

// layout is a page with placeholders for the words that differ between handlers, and its
// policy.
type layout struct {
	text   string
	policy string // Content-Security-Policy
}

// kind is what the page of a wheel has in addition to the wheel.
type kind struct{ keys, logs bool }

// A layout is made when a page of its kind is first requested. The scripts are in the order
// in which they run.
var (
	wheelLayouts = map[kind]func() layout{
		{}:                       layoutOf(kind{}),
		{keys: true}:             layoutOf(kind{keys: true}),
		{logs: true}:             layoutOf(kind{logs: true}),
		{keys: true, logs: true}: layoutOf(kind{keys: true, logs: true}),
	}
	indexLayout = sync.OnceValue(func() layout {
		return newLayout(file("index.html"), "format.js", "index.js", "stream.js")
	})
)

var wheelScripts = []string{
	"rings.js", "hands.js", "cascade.js", "figures.js", "lateness.js", "tables.js", "wheel.js",
}

// layoutOf returns the layout of a wheel's page: with a panel for keys or without, with a table
// of logs or without.
func layoutOf(k kind) func() layout {
	return sync.OnceValue(func() layout {
		beside, counters, main := "", "wheelcounters.js", file("wheel.html")
		if k.logs {
			beside, counters = file("logs.html"), "logs.js"
		}
		scripts := append([]string{"format.js", counters}, wheelScripts...)
		if k.keys {
			main += file("keys.html")
			scripts = append(scripts, "keys.js")
		}
		return newLayout(strings.Replace(main, "/*beside*/\n", beside, 1), append(scripts, "stream.js")...)
	})
}

func newLayout(main string, scripts ...string) layout {
	var all strings.Builder
	all.WriteString("\n'use strict';\n{\n")
	for _, name := range scripts {
		all.WriteString(file(name))
	}
	all.WriteString("}\n")
	style, script := "\n"+file("style.css"), all.String()
	text := strings.NewReplacer("/*style*/", style, "/*script*/", script, "/*main*/", main).Replace(file("frame.html"))
	return layout{text, policy(style, script)}
}

func file(name string) string {
	text, err := files.ReadFile("page/" + name)
	if err != nil {
		panic("view: " + err.Error()) // impossible: the file is embedded
	}
	return string(text)
}

// policy returns a Content-Security-Policy that allows exactly this style and script, by
// hash, and requests to the page's own server.
func policy(style, script string) string {
	return fmt.Sprintf("default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; connect-src 'self'; "+
		"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'", hash(script), hash(style))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// webPage is a layout and the words that replace its placeholders, which are HTML.
type webPage struct {
	layout func() layout
	words  *strings.Replacer
}

func (p webPage) serve(w http.ResponseWriter, r *http.Request) {
	l := p.layout()
	text := p.words.Replace(l.text)
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", l.policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache") // browsers check each time whether the page has changed
	h.Set("ETag", `"`+hash(text)+`"`)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
}
