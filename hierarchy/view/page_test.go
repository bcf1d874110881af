package view

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func page(t testing.TB) (string, http.Header) {
	t.Helper()
	w, _ := newWheel(t)
	r := get(t, Handler(w), http.MethodGet, "/")
	require.Equal(t, http.StatusOK, r.StatusCode)
	return body(t, r), r.Header
}

// oddName is a name that must be escaped in HTML, in a query and in layouts.
const oddName = `a "b" <i>c</i> & d=e?f#g/%20+ {{json}} /*style*/`

// pages returns one page of each kind.
func pages(t testing.TB) map[string]*http.Response {
	t.Helper()
	w, _ := newWheel(t)
	index := Index(map[string]Source{oddName: w, "plain": w}, Title(oddName))
	keyed, _ := newKeyed(t)
	return map[string]*http.Response{
		"wheel":  get(t, Handler(w), http.MethodGet, "/"),
		"titled": get(t, Handler(w, Title(oddName)), http.MethodGet, "/"),
		"keyed":  get(t, Handler(keyed, Keys(keyed, nil)), http.MethodGet, "/"),
		"logged": get(t, Handler(newLogged(t)), http.MethodGet, "/"),
		"index":  get(t, index, http.MethodGet, "/"),
		"listed": get(t, index, http.MethodGet, "/"+queryFor(oddName)),
	}
}

// A page loads nothing from other servers or from absolute paths.
func TestPageIsWhole(t *testing.T) {
	for name, r := range pages(t) {
		t.Run(name, func(t *testing.T) { requireWhole(t, body(t, r)) })
	}
}

func requireWhole(t *testing.T, text string) {
	require.NotContains(t, text, "//www")
	require.NotRegexp(t, `https?:|//[a-z]+\.`, text)
	require.NotRegexp(t, `@import|url\(`, text)
	for _, link := range regexp.MustCompile(`(?:href|src|action)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		require.Contains(t, []string{"json", "data:,", "#figures", "./", "?wheel=plain", queryFor(oddName), "json" + queryFor(oddName)},
			html.UnescapeString(link[1]))
	}
	require.Contains(t, text, "new EventSource(`events?every=")
	for _, gap := range []string{"/*style*/", "/*script*/", "/*main*/", "/*beside*/", "{{"} {
		require.NotContains(t, strings.ReplaceAll(text, html.EscapeString(oddName), ""), gap)
	}
	require.Less(t, len(text), 64<<10)
}

// Every file is in one of the pages.
func TestPageHasAllFiles(t *testing.T) {
	text := body(t, pages(t)["keyed"]) + body(t, pages(t)["logged"]) + body(t, pages(t)["index"])
	require.NoError(t, fs.WalkDir(files, "page", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".html") {
			return err
		}
		part, err := fs.ReadFile(files, path)
		require.Contains(t, text, string(part), path)
		return err
	}))
}

// The policy allows exactly the page's own script and style, by hash, whatever its title,
// and contains nothing that would allow another.
func TestPolicy(t *testing.T) {
	for name, r := range pages(t) {
		t.Run(name, func(t *testing.T) { requirePolicy(t, body(t, r), r.Header.Get("Content-Security-Policy")) })
	}
}

func requirePolicy(t *testing.T, text, policy string) {
	require.NotContains(t, policy, "unsafe")
	require.Contains(t, policy, "default-src 'none'")
	for _, name := range []string{"script", "style"} {
		parts := regexp.MustCompile(`(?s)<`+name+`>(.*?)</`+name+`>`).FindAllStringSubmatch(text, -1)
		require.Len(t, parts, 1)
		sum := sha256.Sum256([]byte(parts[0][1]))
		require.Contains(t, policy, name+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	require.NotRegexp(t, ` (style|on[a-z]+)=`, text[:strings.Index(text, "<script>")])
}

// Titles are on the pages, and are escaped.
func TestTitles(t *testing.T) {
	all := pages(t)
	escaped := html.EscapeString(oddName)
	for name, want := range map[string][2]string{
		"wheel":  {"Timing wheel", "Timing wheel"},
		"titled": {escaped + " – Timing wheel", escaped},
		"index":  {escaped, escaped},
		"listed": {escaped + " – " + escaped, escaped},
	} {
		text := body(t, all[name])
		require.Contains(t, text, "<title>"+want[0]+"</title>", name)
		require.Contains(t, text, "<h1>"+want[1]+"</h1>", name)
		require.NotContains(t, text, "<i>c</i>", name)
	}
	w, _ := newWheel(t)
	index := Index(map[string]Source{"a": w})
	require.Contains(t, body(t, get(t, index, http.MethodGet, "/")), "<title>Timing wheels</title>")
	listed := body(t, get(t, index, http.MethodGet, "/?wheel=a"))
	require.Contains(t, listed, "<title>a – Timing wheel</title>")
	require.Contains(t, listed, `<a class="up" href="./">all wheels</a>`)
}

func TestPageIsSentOnce(t *testing.T) {
	_, h := page(t)
	require.Equal(t, "no-cache", h.Get("Cache-Control"))
	w, _ := newWheel(t)
	r := request(http.MethodGet, "/", nil)
	r.Header.Set("If-None-Match", h.Get("ETag"))
	rec := httptest.NewRecorder()
	Handler(w).ServeHTTP(rec, r)
	require.Equal(t, http.StatusNotModified, rec.Code)
	require.Empty(t, rec.Body.String())
}

// Every id that scripts look up is on the page, once.
func TestPageHasTheIDsOfItsScripts(t *testing.T) {
	for name, r := range pages(t) {
		t.Run(name, func(t *testing.T) { requireIDs(t, body(t, r)) })
	}
}

func requireIDs(t *testing.T, text string) {
	ids := map[string]int{}
	for _, id := range regexp.MustCompile(`\bid="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		ids[id[1]]++
	}
	for id, n := range ids {
		require.Equal(t, 1, n, id)
	}
	for _, id := range regexp.MustCompile(`byId\('([a-z0-9-]+)'\)`).FindAllStringSubmatch(text, -1) {
		require.Contains(t, ids, id[1])
	}
}
