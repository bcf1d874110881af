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

// Pages are written in several files, and each is served as one.
//
//go:embed page/*.html page/*.css page/*.js
var files embed.FS

// layout is a page but for the words that differ from one handler to the next, and
// what it may do.
type layout struct {
	text   string
	policy string // Content-Security-Policy
}

// Layouts are put together when somebody first looks at a page of the kind. Scripts
// are in the order in which they are run.
var (
	wheelLayout = sync.OnceValue(func() layout {
		return newLayout("wheel.html", "format.js", "rings.js", "hands.js", "cascade.js",
			"figures.js", "lateness.js", "tables.js", "wheel.js", "stream.js")
	})
	indexLayout = sync.OnceValue(func() layout {
		return newLayout("index.html", "format.js", "index.js", "stream.js")
	})
)

func newLayout(main string, scripts ...string) layout {
	var all strings.Builder
	all.WriteString("\n'use strict';\n{\n")
	for _, name := range scripts {
		all.WriteString(file(name))
	}
	all.WriteString("}\n")
	style, script := "\n"+file("style.css"), all.String()
	text := strings.NewReplacer("/*style*/", style, "/*script*/", script, "/*main*/", file(main)).Replace(file("frame.html"))
	return layout{text, policy(style, script)}
}

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

// webPage is a layout and its words, which are HTML.
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
	h.Set("Cache-Control", "no-cache") // asked for again each time, and sent if it has changed
	h.Set("ETag", `"`+hash(text)+`"`)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
}
