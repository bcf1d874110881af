package view

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// getFromHost returns the answer to a request for that host.
func getFromHost(t testing.TB, h http.Handler, host, path string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = host
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Result()
}

// alwaysAllowed has IP addresses and names of this machine, which no other web page can use
// as its own name.
var alwaysAllowed = []string{
	"localhost", "localhost:8420", "LocalHost:1", "localhost.", "wheels.localhost", "a.b.localhost:80",
	"127.0.0.1", "127.0.0.1:8420", "127.255.3.4", "[::1]", "[::1]:8420", "[::ffff:127.0.0.1]:1",
	"10.1.2.3:8420", "192.0.2.1", "0.0.0.0:80", "[2001:db8::1]:8420", "[fe80::1%25eth0]:80",
}

// refusedByDefault has names that anyone can point at this machine, and strings that are not
// names.
var refusedByDefault = []string{
	"evil.example", "evil.example:8420", "localhost.evil.example", "127.0.0.1.evil.example", "evillocalhost",
	"xn--localhost-9za", "local", "1.2.3", "2130706433", "", ":80", "localhost:x", "[evil.example]", "evil.example@10.1.2.3",
}

func TestAnswersToThisMachine(t *testing.T) {
	w, _ := newWheel(t)
	h := Handler(w)
	for _, host := range alwaysAllowed {
		for _, path := range []string{"/", "/json"} {
			require.Equal(t, http.StatusOK, getFromHost(t, h, host, path).StatusCode, "%q", host)
		}
	}
}

// A web page elsewhere that points its name at this machine (DNS rebinding) can't read any
// path.
func TestDoesNotAnswerToOtherNames(t *testing.T) {
	w, _ := newWheel(t)
	h := Handler(w)
	for _, host := range refusedByDefault {
		for _, path := range []string{"/", "/json", "/events", "/other"} {
			r := getFromHost(t, h, host, path)
			require.Equal(t, http.StatusForbidden, r.StatusCode, "%q", host)
			require.Equal(t, "text/plain; charset=utf-8", r.Header.Get("Content-Type"))
			require.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"))
		}
	}
}

// Only the Host of the request counts, not headers that a web page may have added.
func TestForwardedNamesDoNotCount(t *testing.T) {
	w, _ := newWheel(t)
	server := httptest.NewServer(Handler(w))
	defer server.Close()
	r, err := http.NewRequest(http.MethodGet, server.URL+"/json", nil)
	require.NoError(t, err)
	r.Host = "evil.example"
	r.Header.Set("X-Forwarded-Host", "localhost")
	r.Header.Set("Forwarded", "host=localhost")
	answer, err := server.Client().Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusForbidden, answer.StatusCode)
	require.NotContains(t, body(t, answer), "pending")
}

// A refusal says how to allow the host, and shows no figures.
func TestRefusalSaysHowToAllowTheHost(t *testing.T) {
	w, _ := newWheel(t)
	text := body(t, getFromHost(t, Handler(w), "Wheels.example.com:8420", "/json"))
	require.Contains(t, text, `view: this page does not answer to the host "Wheels.example.com:8420".`)
	require.Contains(t, text, "DNS rebinding")
	require.Contains(t, text, `view.Hosts("wheels.example.com")`)
	require.NotContains(t, text, "pending")
	require.NotContains(t, body(t, getFromHost(t, Handler(w), "", "/json")), "view.Hosts") // there is no name to allow
}

func TestHosts(t *testing.T) {
	w, _ := newWheel(t)
	for _, c := range []struct {
		option  []Option
		yes, no []string
	}{
		{[]Option{Hosts()}, nil, []string{"wheels.example.com"}},
		{
			[]Option{Hosts("wheels.example.com")},
			[]string{"wheels.example.com", "wheels.example.com:8420", "WHEELS.example.com.", "wheels.example.com.:1"},
			[]string{"example.com", "a.wheels.example.com", "xwheels.example.com", "wheels.example.com.evil.example"},
		},
		{
			[]Option{Hosts("Wheels.Example.com.:8420", "10.1.2.3", "::1", "[::1]:80", "my_machine")},
			[]string{"wheels.example.com:1", "my_machine"}, []string{"my-machine"},
		},
		{
			[]Option{Hosts("*.example.com")},
			[]string{"a.example.com", "a.b.example.com:1"},
			[]string{"example.com", "aexample.com", "*", "a.example.com.evil.example"},
		},
		{[]Option{Hosts("a.example"), Hosts("b.example")}, []string{"a.example", "b.example"}, []string{"c.example"}},
		{[]Option{Hosts("*")}, refusedByDefault, nil},
	} {
		h := Handler(w, c.option...)
		for _, host := range append(c.yes, alwaysAllowed...) {
			require.Equal(t, http.StatusOK, getFromHost(t, h, host, "/json").StatusCode, "%q", host)
		}
		for _, host := range c.no {
			require.Equal(t, http.StatusForbidden, getFromHost(t, h, host, "/json").StatusCode, "%q", host)
		}
	}
}

func TestHostsRejectsInvalidNames(t *testing.T) {
	for _, name := range []string{
		"", ":80", "https://wheels.example.com", "wheels.example.com/debug", "a b", "*wheels.example.com", "a.*", "*.",
		"*.*", "**", ".example.com", "müller.example", "user@example.com", "example.com:http",
	} {
		require.PanicsWithValue(t, fmt.Sprintf(
			"view: Hosts was given %q, which is not the name of a host, such as \"wheels.example.com\"", name,
		), func() { Hosts(name) }, name)
	}
}
