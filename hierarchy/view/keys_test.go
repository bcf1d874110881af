package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// newKeyed makes a Keyed on a mock, without keys.
func newKeyed(t testing.TB) (*hierarchy.Keyed[string, int], *clock.Mock) {
	t.Helper()
	m := clock.NewMock()
	w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(string, int) {})
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w, m
}

// listOf is an answer to a request for keys.
type listOf struct {
	Find string
	Keys []struct {
		Key       string
		Remaining *time.Duration `json:"remaining_ns"`
	}
	More bool
}

func (l listOf) texts() []string {
	texts := []string{}
	for _, k := range l.Keys {
		if k.Remaining == nil {
			texts = append(texts, k.Key+" gone")
			continue
		}
		texts = append(texts, fmt.Sprint(k.Key, " ", *k.Remaining))
	}
	return texts
}

// keysAt asks a handler for keys. query is what follows "keys".
func keysAt(t testing.TB, h http.Handler, query string) (l listOf) {
	t.Helper()
	r := get(t, h, http.MethodGet, "/keys"+query)
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
	text := body(t, r)
	require.Contains(t, text, `"keys":[`)
	require.NoError(t, json.Unmarshal([]byte(text), &l))
	return l
}

func find(text string) string { return "?find=" + url.QueryEscape(text) }

func TestNextKeysInOrder(t *testing.T) {
	w, m := newKeyed(t)
	want := []string{}
	for i := range 200 {
		d := time.Duration(i*77%200+2) * time.Minute // each once
		require.NoError(t, w.Set(fmt.Sprint("k", d.Minutes()), i, d))
		want = append(want, fmt.Sprintf("k%d %v", i+2, time.Duration(i+1)*time.Minute))
	}
	m.Add(time.Minute)
	l := keysAt(t, Handler(w, Keys(w, nil)), "")
	require.Equal(t, want[:20], l.texts())
	require.True(t, l.More)
	require.Empty(t, l.Find)
}

// 20 keys are all of them, and there are no more.
func TestKeysUpToTheBound(t *testing.T) {
	w, _ := newKeyed(t)
	for i := range 21 {
		if i > 18 {
			l := keysAt(t, Handler(w, Keys(w, nil)), "")
			require.Len(t, l.Keys, i)
			require.False(t, l.More)
		}
		require.NoError(t, w.Set(fmt.Sprint(i), i, time.Hour))
	}
	l := keysAt(t, Handler(w, Keys(w, nil)), "")
	require.Len(t, l.Keys, 20)
	require.True(t, l.More)
}

func TestFindKeys(t *testing.T) {
	w, _ := newKeyed(t)
	for i, k := range []string{"user-1", "user-10", "user-11", "<b>", `<b>"&'`, "a b+c%20", "käse", "\xff", oddName} {
		require.NoError(t, w.Set(k, i, time.Duration(10-i)*time.Second))
	}
	h := Handler(w, Keys(w, nil))
	for text, want := range map[string][]string{
		"user-1":   {"user-1 10s"}, // rather than those that contain it
		"user-":    {"user-11 8s", "user-10 9s", "user-1 10s"},
		"User-1":   {},
		"<b>":      {"<b> 7s"},
		"b>":       {`<b>"&' 6s`, "<b> 7s"},
		"a b+c%20": {"a b+c%20 5s"},
		"ä":        {"käse 4s"},
		"{{json}}": {oddName + " 2s"},
	} {
		l := keysAt(t, h, find(text))
		require.Equal(t, want, l.texts(), text)
		require.Equal(t, text, l.Find)
		require.False(t, l.More)
	}
	require.Len(t, keysAt(t, h, "?find=").Keys, 9)
	require.NotContains(t, body(t, get(t, h, http.MethodGet, "/keys")), "<")
}

func TestFindsTheNextOfMany(t *testing.T) {
	w, _ := newKeyed(t)
	for i := range 1000 {
		require.NoError(t, w.Set(fmt.Sprint("k", i), i, time.Duration(1000-i)*time.Second))
	}
	h := Handler(w, Keys(w, func(k string) string { return "the " + k[:2] }))
	l := keysAt(t, h, find("k9"))
	require.Len(t, l.Keys, 20)
	require.Equal(t, "the k9 1s", l.texts()[0])
	require.Equal(t, "the k9 20s", l.texts()[19])
	require.True(t, l.More)
	l = keysAt(t, h, find("the k3"))
	require.Equal(t, "the k3 10m1s", l.texts()[0])
	require.True(t, l.More)
	require.Empty(t, keysAt(t, h, find("k999")).Keys, "the text before it is formatted is not searched")
}

func TestKeysOfAnEmptyAndOfAStoppedWheel(t *testing.T) {
	w, _ := newKeyed(t)
	require.Empty(t, keysAt(t, Handler(w, Keys(w, nil)), "").Keys)
	require.NoError(t, w.Set("a", 1, time.Hour))
	w.Stop()
	h := Handler(w, Keys(w, nil))
	require.Empty(t, keysAt(t, h, "").Keys)
	require.Empty(t, keysAt(t, h, find("a")).Keys)
}

// A key that has gone or was moved since it was read is shown as it is now.
func TestKeysThatChangeMeanwhile(t *testing.T) {
	w, _ := newKeyed(t)
	for i, k := range []string{"a1", "a2", "a3"} {
		require.NoError(t, w.Set(k, i, time.Duration(i+1)*time.Minute))
	}
	l := keysAt(t, Handler(w, Keys(w, func(k string) string {
		switch k {
		case "a1":
			_, _ = w.Move(k, time.Hour)
		case "a2":
			w.Remove(k)
		}
		return k
	})), find("a"))
	require.Equal(t, []string{"a2 gone", "a3 3m0s", "a1 1h0m0s"}, l.texts())
}

// Keys of any type are printed by default.
func TestKeysOfOtherTypes(t *testing.T) {
	type pair struct {
		A int
		B any
	}
	w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: clock.NewMock()}, func(pair, int) {})
	require.NoError(t, err)
	defer w.Stop()
	require.NoError(t, w.Set(pair{1, "x"}, 7, time.Second))
	h := Handler(w, Keys(w, nil))
	require.Equal(t, []string{"{1 x} 1s"}, keysAt(t, h, "").texts())
	require.Equal(t, []string{"{1 x} 1s"}, keysAt(t, h, find("1 x")).texts())
	require.NotContains(t, body(t, get(t, h, http.MethodGet, "/keys")), "7}")
}

// Without Keys there are no keys, and a wheel may be mounted at a path that ends in them.
func TestNoKeysWithoutTheOption(t *testing.T) {
	w, _ := newKeyed(t)
	require.NoError(t, w.Set("secret", 1, time.Hour))
	for _, h := range []http.Handler{Handler(w), Index(map[string]Source{"w": w})} {
		for _, path := range []string{"/keys", "/keys?find=secret", "/keys?wheel=w"} {
			require.Equal(t, http.StatusNotFound, get(t, h, http.MethodGet, path).StatusCode)
		}
		for _, path := range []string{"/", "/?wheel=w"} {
			require.NotContains(t, body(t, get(t, h, http.MethodGet, path)), `id="keys"`)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/a/keys", Handler(w))
	require.Equal(t, "./keys/", get(t, mux, http.MethodGet, "/a/keys").Header.Get("Location"))
}

func TestKeysOfListedWheels(t *testing.T) {
	a, _ := newKeyed(t)
	b, _ := newKeyed(t)
	plain, _ := newKeyed(t)
	require.NoError(t, a.Set("in a", 1, time.Hour))
	require.NoError(t, b.Set("in b", 1, time.Hour))
	listed := map[string]Source{oddName: a, "b": b, "plain": plain}
	h := Index(listed, Keys(a, nil), Keys(b, nil))
	require.Equal(t, []string{"in a 1h0m0s"}, keysAt(t, h, queryFor(oddName)).texts())
	require.Equal(t, []string{"in b 1h0m0s"}, keysAt(t, h, "?wheel=b").texts())
	require.Empty(t, keysAt(t, h, "?wheel=b&find=a").Keys)
	require.Contains(t, body(t, get(t, h, http.MethodGet, "/?wheel=b")), `id="keys"`)
	require.NotContains(t, body(t, get(t, h, http.MethodGet, "/?wheel=plain")), `id="keys"`)
	for _, path := range []string{"/keys", "/keys?wheel=plain", "/keys?wheel=none"} {
		require.Equal(t, http.StatusNotFound, get(t, h, http.MethodGet, path).StatusCode, path)
	}
	other, _ := newKeyed(t)
	require.PanicsWithValue(t, "view: Index was given Keys of a wheel that it does not list",
		func() { Index(listed, Keys(other, nil)) })
}

func TestKeysOfNil(t *testing.T) {
	require.PanicsWithValue(t, "view: Keys was given nil instead of a wheel",
		func() { Keys[string, int](nil, nil) })
}

func TestKeysAreOnlyForAllowedHosts(t *testing.T) {
	w, _ := newKeyed(t)
	require.NoError(t, w.Set("secret", 1, time.Hour))
	h := Handler(w, Keys(w, nil))
	require.Equal(t, http.StatusMethodNotAllowed, get(t, h, http.MethodPost, "/keys").StatusCode)
	r := request(http.MethodGet, "/keys", nil)
	r.Host = "evil.example"
	code, text := answerTo(h, r)
	require.Equal(t, http.StatusForbidden, code)
	require.NotContains(t, text, "secret")
}

// ListedKeys shows what a function lists, of the state that is asked for, or of the first one.
func TestListedKeys(t *testing.T) {
	w, _ := newWheel(t)
	var asked []string
	var problem error
	h := Handler(w, ListedKeys(w, []string{"pending", "dead"}, func(_ context.Context, find, state string) ([]Key, bool, error) {
		asked = append(asked, find+"|"+state)
		if state == "dead" {
			return []Key{{Text: "d", Note: "long ago", Remaining: time.Second}}, false, problem
		}
		return make([]Key, MaxKeys+1), false, problem
	}))
	l := keysAt(t, h, "")
	require.Len(t, l.Keys, MaxKeys)
	require.True(t, l.More)
	require.Equal(t, []string{"d gone"}, keysAt(t, h, "?state=dead&find=d").texts())
	text := body(t, get(t, h, http.MethodGet, "/keys?state=dead"))
	require.Contains(t, text, `"keys":[{"key":"d","remaining_ns":null,"note":"long ago"}],"more":false,"states":["pending","dead"],"state":"dead"`)
	keysAt(t, h, "?state=none&find=x")
	require.Equal(t, []string{"|pending", "d|dead", "|dead", "x|pending"}, asked)
	problem = errors.New("no answer")
	r := get(t, h, http.MethodGet, "/keys?find=y")
	require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
	require.Equal(t, "view: the keys can't be read: no answer\n", body(t, r))
}
