package view

import (
	"crypto/sha256"
	"encoding/base64"
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

// Nothing is fetched from elsewhere, nor from an absolute path.
func TestPageIsWhole(t *testing.T) {
	text, _ := page(t)
	require.NotContains(t, text, "//www")
	require.NotRegexp(t, `https?:|//[a-z]+\.`, text)
	require.NotRegexp(t, `@import|url\(`, text)
	for _, link := range regexp.MustCompile(`(?:href|src|action)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		require.Contains(t, []string{"json", "data:,", "#figures"}, link[1])
	}
	require.Contains(t, text, "new EventSource(`events?every=")
	require.NotContains(t, text, "/*style*/")
	require.NotContains(t, text, "/*script*/")
	require.Less(t, len(text), 64<<10)
}

// Every file of the page is in it: one that scripts forget would be missing.
func TestPageHasAllFiles(t *testing.T) {
	text, _ := page(t)
	require.NoError(t, fs.WalkDir(files, "page", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".html") {
			return err
		}
		part, err := fs.ReadFile(files, path)
		require.Contains(t, text, string(part), path)
		return err
	}))
}

// The policy allows the page's own script and style, to the byte, and has no word
// that would let in another.
func TestPolicy(t *testing.T) {
	text, h := page(t)
	policy := h.Get("Content-Security-Policy")
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

// What scripts look up by its id is there, once.
func TestPageHasWhatScriptsLookFor(t *testing.T) {
	text, _ := page(t)
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
