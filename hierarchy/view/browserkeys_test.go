package view

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// keyRows is an expression for the rows of the table of keys.
const keyRows = `[...document.querySelectorAll('#keys-table tbody tr')].map(row => [...row.cells].map(cell => cell.textContent.replace(/\s/g, ' ')).join('|')).join('\n')`

// findKey is an expression that writes text into the field and leaves it.
func findKey(text string) string {
	return fmt.Sprintf(`Object.assign(document.getElementById('keys-find'), { value: %q }).dispatchEvent(new Event('change'))`, text)
}

// The panel asks for keys only while it is open, shows them as text, and finds one.
func TestPageShowsKeys(t *testing.T) {
	w, m := newKeyed(t)
	h := Handler(w, Keys(w, nil))
	var asked atomic.Int32
	s := serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/keys") {
			asked.Add(1)
		}
		h.ServeHTTP(rw, r)
	}))
	long := strings.Repeat("long", 100)
	for k, d := range map[string]time.Duration{
		"<b>bold</b>": time.Second, "second": 2 * time.Second, long: 3 * time.Second,
	} {
		require.NoError(t, w.Set(k, 1, d+time.Minute))
	}
	m.Add(time.Minute)
	for _, window := range windows {
		before := asked.Load()
		s.show(s.server.URL+"/debug/wheel/", window.width, window.height, window.scheme)
		s.until("live", pageState)
		require.Equal(t, before, asked.Load())
		s.text(`document.querySelector('#keys summary').click()`)
		s.until("<b>bold</b>|1 s\nsecond|2 s\n"+long+"|3 s", keyRows)
		s.until("All pending keys.", shownAt("keys-note"))
		require.Equal(t, "0", s.text(`document.querySelectorAll('#keys-table b').length`))
		s.requireFits()
	}
	s.text(findKey("second"))
	s.until("second|2 s", keyRows)
	s.until("Found one key.", shownAt("keys-note"))
	s.text(findKey("no such key"))
	s.until("No pending key has this text.", shownAt("keys-note"))
	s.requireFits()
	s.text(findKey(""))
	s.until("All pending keys.", shownAt("keys-note"))
	m.Add(time.Second)
	s.until("second|1 s\n"+long+"|2 s", keyRows) // it refreshes
	s.requireFits()
}

// The panel of a wheel of an Index asks for the keys of that wheel. A closed panel, and one
// whose page is paused, asks for nothing.
func TestPageOfAnIndexShowsKeys(t *testing.T) {
	w, _ := newKeyed(t)
	other, _ := newKeyed(t)
	require.NoError(t, w.Set("a key", 1, time.Minute))
	s := serve(t, Index(map[string]Source{oddName: w, "other": other}, Keys(w, nil)))
	s.show(s.server.URL+"/debug/wheel/"+queryFor(oddName), 360, 800, "dark")
	s.until("live", pageState)
	s.text(`(fetched => { window.requests = 0; window.fetch = (...all) => { window.requests++; return fetched(...all); }; })(fetch)`)
	s.text(`document.getElementById('keys').addEventListener('toggle', () => { window.toggled = true; })`)
	s.text(`document.getElementById('pause').click()`)
	s.text(`document.querySelector('#keys summary').click()`)
	s.until("true", `window.toggled`)
	require.Equal(t, "0", s.text(`window.requests`))
	s.text(`document.getElementById('pause').click()`)
	s.until("a key|60 s", keyRows+`.replace('1 min', '60 s')`)
	require.Equal(t, "true", s.text(`window.requests > 0`))
	s.requireFits()
}

// The wheel stays in view while the figures beside it scroll, but never covers what is below.
func TestWheelDoesNotCoverTheTables(t *testing.T) {
	w, _ := newKeyed(t)
	for i := range 20 {
		require.NoError(t, w.Set(fmt.Sprint("key ", i), i, time.Hour))
	}
	s := serve(t, Handler(w, Keys(w, nil)))
	s.show(s.server.URL+"/debug/wheel/", 1280, 700, "light")
	s.until("20", shownAt("hub"))
	s.text(`document.querySelector('#keys summary').click()`)
	s.until("20", `document.querySelectorAll('#keys-table tbody tr').length`)
	for _, y := range []int{0, 100, 400, 1000, 10000} {
		s.text(fmt.Sprintf(`scrollTo(0, %d)`, y))
		covered := `document.querySelector('.wheel').getBoundingClientRect().bottom > document.querySelector('.circles').getBoundingClientRect().top`
		require.Equal(t, "false", s.text(covered), "at %d", y)
	}
	s.requireFits()
}

// The panel has a choice of states, if there are any.
func TestPageShowsKeysOfAState(t *testing.T) {
	l := newLogged(t)
	h := Handler(l, ListedKeys(l, []string{"pending", "dead"}, func(_ context.Context, find, state string) ([]Key, bool, error) {
		if state == "dead" {
			return []Key{{Text: "<b>one</b>" + find, Note: "attempt 3 failed"}}, false, nil
		}
		return []Key{{Text: "two", Remaining: time.Minute}}, false, nil
	}))
	s := serve(t, h)
	for _, window := range windows {
		s.show(s.server.URL+"/debug/wheel/", window.width, window.height, window.scheme)
		s.until("live", pageState)
		s.text(`document.querySelector('#keys summary').click()`)
		s.until("two|60 s", keyRows)
		s.until("All pending keys.", shownAt("keys-note"))
		s.text(`(s => { s.value = 'dead'; s.dispatchEvent(new Event('change')); })(document.getElementById('keys-state'))`)
		s.until("<b>one</b>|attempt 3 failed", keyRows)
		s.until("All dead keys.", shownAt("keys-note"))
		s.requireFits()
	}
}
