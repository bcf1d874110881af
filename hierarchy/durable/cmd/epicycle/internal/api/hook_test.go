package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
)

// as sends a request with a token.
func (a *API) as(t testing.TB, token, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost"
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w
}

// withSecret gives an API a secret named shop.
func withSecret(t *testing.T, a *API) *API {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop"), []byte("the secret of shop"), 0o600))
	a.Keys = new(web.Keys)
	require.NoError(t, a.Keys.ReadDir(dir))
	return a
}

const hooked = `{"in":"1h","to":{"webhook":"http://example.com/","method":"PUT","headers":{"Authorization":"Bearer hidden","x-b":""},"secret":"shop"},` +
	`"timeout":"5s","retry":{"attempts":3,"backoff":"10ms","most":"1m"}}`

// The values of headers are for those who may set timers, wherever a timer is shown. All else is for all.
func TestHeadersAreHidden(t *testing.T) {
	a := withTokens(t, withSecret(t, newAPI(t)))
	put := a.as(t, "admin", "PUT", "/v1/timers/p-k", hooked)
	require.Equal(t, 200, put.Code, put.Body)
	require.Equal(t, 409, a.as(t, "write", "PUT", "/v1/timers/p-k?if=absent", hooked).Code)
	for token, sees := range map[string]bool{"read": false, "readp-": false, "write": true, "writep-": true, "admin": true} {
		for _, path := range []string{"/v1/timers/p-k", "/v1/timers", "/v1/timers?prefix=p", "/v1/export", "/v1/export?prefix=p-", "/metrics"} {
			w := a.as(t, token, "GET", path, "")
			if path == "/metrics" {
				require.NotContains(t, w.Body.String(), "hidden")
				continue
			}
			require.Equal(t, 200, w.Code, path)
			require.Equal(t, sees, strings.Contains(w.Body.String(), "hidden"), "%s %s: %s", token, path, w.Body)
			want := `"to":{"webhook":"http://example.com/","method":"PUT","headers":{"Authorization":null,"x-b":null},"secret":"shop"},"timeout":"5s","retry":{"attempts":3,"backoff":"10ms","most":"1m0s"}`
			if sees {
				want = strings.NewReplacer(`"Authorization":null`, `"Authorization":"Bearer hidden"`, `"x-b":null`, `"x-b":""`).Replace(want)
			}
			require.Contains(t, w.Body.String(), want)
		}
	}

	// What a token that may read has exported is not imported as if the headers had no values.
	lines := a.as(t, "read", "GET", "/v1/export", "").Body.String()
	w := a.as(t, "admin", "POST", "/v1/import", lines)
	require.Equal(t, 400, w.Code)
	require.Contains(t, w.Body.String(), "is null, as in an answer to a token that may read alone")
	before := a.as(t, "write", "GET", "/v1/timers/p-k", "").Body.String()
	lines = a.as(t, "write", "GET", "/v1/export", "").Body.String()
	require.Equal(t, 200, a.as(t, "write", "DELETE", "/v1/timers/p-k", "").Code)
	require.Equal(t, 200, a.as(t, "admin", "POST", "/v1/import", lines).Code)
	require.Equal(t, before, a.as(t, "write", "GET", "/v1/timers/p-k", "").Body.String(), "nothing is lost")
	a.Keys = nil
	w = a.as(t, "admin", "POST", "/v1/import", lines)
	require.Equal(t, 400, w.Code)
	require.Contains(t, w.Body.String(), "line 1: "+errSecrets.Error())
}

// What can't be right is refused, by PUT and in batches, and no answer has the value of a header.
func TestHooksThatAreRefused(t *testing.T) {
	a := withSecret(t, newAPI(t))
	for _, c := range []struct {
		to, rest, want string
		status         int
	}{
		{`"webhook":"http://a/","method":"TRACE"`, "", "method: ", 400},
		{`"webhook":"http://a/","method":"get"`, "", "method: ", 400},
		{`"webhook":"http://a/","headers":{"Host":"hidden"}`, "", "can't be set", 400},
		{`"webhook":"http://a/","headers":{"Content-Length":"9"}`, "", "can't be set", 400},
		{`"webhook":"http://a/","headers":{"webhook-signature":"v1,hidden"}`, "", "can't be set", 400},
		{`"webhook":"http://a/","headers":{"epicycle-key":"hidden"}`, "", "can't be set", 400},
		{`"webhook":"http://a/","headers":{"A":"hidden\r\nB: c"}`, "", "visible ASCII", 400},
		{`"webhook":"http://a/","headers":{"A":"hidden\u0000"}`, "", "visible ASCII", 400},
		{`"webhook":"http://a/","headers":{"A\r\nB":"hidden"}`, "", "not the name of a header", 400},
		{`"webhook":"http://a/","headers":{"A":"hidden","a":"hidden"}`, "", "comes twice", 400},
		{`"webhook":"http://a/","headers":{"A-b":"hidden","a_B":"hidden"}`, "", "comes twice", 400},
		{`"webhook":"http://a/","headers":{"A":null}`, "", "is null", 400},
		{`"webhook":"http://a/","headers":{"A":["hidden"]}`, "", "headers", 400},
		{`"webhook":"http://a/","headers":["A: hidden"]`, "", "headers", 400},
		{`"webhook":"http://a/","headers":{"A":"` + strings.Repeat("hidden", 8<<10/6) + `xx"}`, "", "8193 bytes", 400},
		{`"webhook":"http://a/","headers":{` + many(33) + `}`, "", "33, of at most 32", 400},
		{`"webhook":"http://a/","secret":"../shop"`, "", "not the name of a secret", 400},
		{`"webhook":"http://a/","secret":"/etc/passwd"`, "", "not the name of a secret", 400},
		{`"webhook":"http://a/","secret":"..\\shop"`, "", "not the name of a secret", 400},
		{`"webhook":"http://a/","secret":"none"`, "", "no secret with this name", 400},
		{`"queue":"q","method":"PUT"`, "", "for webhooks", 400},
		{`"queue":"q","headers":{}`, "", "for webhooks", 400},
		{`"queue":"q","secret":"shop"`, "", "for webhooks", 400},
		{`"webhook":"http://a/","queue":"q"`, "", "exactly one", 400},
		{`"webhook":"http://user:hidden@a/"`, "", "no user and no password", 400},
		{`"webhook":"http://a/\r\nHost: b"`, "", "no URL", 400},
		{`"queue":"q"`, `,"retry":{"attempts":0}`, "attempts: ", 400},
		{`"queue":"q"`, `,"retry":{"attempts":1001}`, "attempts: 1001", 400},
		{`"queue":"q"`, `,"retry":{"attempts":1.5}`, "attempts", 400},
		{`"queue":"q"`, `,"retry":{"backoff":"0s"}`, "backoff: ", 400},
		{`"queue":"q"`, `,"retry":{"backoff":"soon"}`, "backoff: ", 400},
		{`"queue":"q"`, `,"retry":{"backoff":"1m","most":"1s"}`, "more than most", 400},
		{`"queue":"q"`, `,"retry":{"most":"-1s"}`, "most: ", 400},
		{`"queue":"q"`, `,"retry":{"least":"1s"}`, "least", 400},
		{`"queue":"q","retry":{"attempts":2}`, `,"retry":{"attempts":2}`, "not both", 400},
		{`"queue":"q","timeout":"1s"`, `,"timeout":"1s"`, "not both", 400},
		{`"queue":"q","timeout":"never"`, "", "timeout: ", 400},
		{`"webhook":"http://a/","headers":{"A":"` + strings.Repeat("x", 8000) + `"}`, `,"value":"` + strings.Repeat("x", 59<<10) + `"`, "of at most 65536", 413},
	} {
		fields := `"in":"1h","to":{` + c.to + `}` + c.rest
		w := a.do(t, "PUT", "/v1/timers/k", strings.NewReader(`{`+fields+`}`))
		require.Equal(t, c.status, w.Code, "%.200s: %s", fields, w.Body)
		require.Contains(t, w.Body.String(), c.want)
		require.NotContains(t, w.Body.String(), "hidden")
		w = a.do(t, "POST", "/v1/batch", strings.NewReader(`{"operations":[{"op":"set","key":"k",`+fields+`}]}`))
		require.NotContains(t, w.Body.String(), `"ok":true`, "%.200s", fields)
		require.NotContains(t, w.Body.String(), "hidden")
	}
	require.Equal(t, 404, a.do(t, "GET", "/v1/timers/k", http.NoBody).Code)
}

// many returns headers.
func many(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = `"A` + strings.Repeat("a", i) + `":""`
	}
	return strings.Join(all, ",")
}

// The largest hook is stored as it is, by PUT and in a batch, and timeout and retry may be in to.
func TestHooksThatAreStored(t *testing.T) {
	a := withSecret(t, newAPI(t))
	for _, c := range []struct{ fields, want string }{
		{`"to":{"webhook":"http://a/","method":"POST","headers":{` + many(32) + `}}`, `"to":{"webhook":"http://a/","headers":{` + many(32) + `}}`},
		{`"to":{"queue":"q","timeout":"5s","retry":{"attempts":1000}}`, `"to":{"queue":"q"},"timeout":"5s","retry":{"attempts":1000}`},
		{`"to":{"queue":"q"},"retry":{}`, `"to":{"queue":"q"},"timeout":"30s","due"`},
		{`"to":{"webhook":"http://a/","method":"DELETE"},"retry":{"most":"168h"}`, `"to":{"webhook":"http://a/","method":"DELETE"},"timeout":"30s","retry":{"most":"168h0m0s"}`},
	} {
		w := a.do(t, "PUT", "/v1/timers/k", strings.NewReader(`{"in":"1h",`+c.fields+`}`))
		require.Equal(t, 200, w.Code, w.Body)
		require.Contains(t, w.Body.String(), c.want)
		w = a.do(t, "POST", "/v1/batch", strings.NewReader(`{"operations":[{"op":"set","key":"b","in":"1h",`+c.fields+`}]}`))
		require.Contains(t, w.Body.String(), `"ok":true`)
		w = a.do(t, "GET", "/v1/timers/b", http.NoBody)
		require.Contains(t, w.Body.String(), c.want)
		var one Timer
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &one))
	}
}
