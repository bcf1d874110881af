package api

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Keys and names of queues are segments of paths, and may be any text. http.ServeMux takes the segment %2F for the end of a
// path. So the mux gets paths whose segments are percent-encoded twice, and decodes them once.

const timersPath = "/v1/timers/"

// split returns the request as the mux gets it. It refuses paths that the mux would clean, and redirect.
func split(r *http.Request) (*http.Request, *Problem) {
	u := *r.URL
	u.Path, u.RawPath = r.URL.EscapedPath(), ""
	takeKey(&u)
	if clean := path.Clean(u.Path); clean != u.Path && clean+"/" != u.Path {
		return r, errPath
	}
	other := *r
	other.URL = &u
	return &other, nil
}

var errPath = problem(http.StatusNotFound, "a path has no empty segments, and . and .. are written %2E and %2E%2E")

// takeKey moves a key from the query to the path, where browsers can't have the segments "." and "..":
// /v1/timers/?key=.. and /v1/timers/revive?key=.. are /v1/timers/%2E%2E and /v1/timers/%2E%2E/revive.
func takeKey(u *url.URL) {
	rest, ok := strings.CutPrefix(u.Path, timersPath)
	if !ok || rest != "" && rest != "revive" || u.RawQuery == "" {
		return
	}
	query := u.Query()
	key := query.Get("key")
	if key == "" {
		return
	}
	query.Del("key")
	u.Path, u.RawQuery = strings.TrimSuffix(timersPath+escape(key)+"/"+rest, "/"), query.Encode()
}

// escape encodes a text as a segment of a path.
func escape(text string) string {
	return strings.ReplaceAll(url.PathEscape(text), ".", "%2E")
}

// segments is the mux of the requests that split has prepared.
type segments struct{ *http.ServeMux }

// HandleFunc implements humago.Mux.
func (s segments) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	names := slices.DeleteFunc([]string{"key", "name"}, func(name string) bool { return !strings.Contains(pattern, "{"+name+"}") })
	s.ServeMux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range names {
			text, _ := url.PathUnescape(r.PathValue(name)) // the server has decoded the path before
			r.SetPathValue(name, text)
		}
		handler(w, r)
	})
}
