package command

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// More reads the next rows and leaves those that are there, and all rows that are shown are refreshed by one request.
func TestPageReadsOnlyWhatIsMissing(t *testing.T) {
	browser := newBrowser(t)
	s := serve(t)
	var operations []string
	for i := range 350 {
		operations = append(operations, fmt.Sprintf(`{"op":"set","key":"t%03d","in":"1h","to":{"queue":"q"}}`, i))
	}
	s.do("POST", "/v1/batch", `{"operations":[`+strings.Join(operations, ",")+`]}`).json(http.StatusOK)
	p := s.open(t, browser, desktop)
	p.until("100 timers, and more", text("status"))
	const requests = `performance.getEntriesByType('resource').map(r => new URL(r.name)).filter(u => u.pathname === '/v1/timers')`
	for i, want := range []string{"200 timers, and more", "300 timers, and more", "350 timers"} {
		p.value(`document.getElementById('more').click()`)
		p.until(want, text("status"))
		require.Equal(t, fmt.Sprint(i+1), p.value(requests+`.filter(u => u.searchParams.has('after')).length`))
	}
	require.Equal(t, "t349", p.value(`[...document.querySelectorAll('#rows button')].at(-1).textContent`))
	require.Equal(t, "true", p.value(`document.getElementById('more').hidden`))
	p.value(`performance.clearResourceTimings() + document.querySelector('#search button').click()`)
	p.until("400", requests+`.map(u => u.searchParams.get('limit'))[0]`)
	p.until("350", `document.querySelectorAll('#rows tr').length`)
	require.Equal(t, "0", p.value(requests+`.filter(u => u.searchParams.has('after')).length`))
	p.check()
}

// The details of a timer have its last attempts, and run it now. They have the names of its headers, and never a value;
// when it is set anew, it keeps them.
func TestPageOfAttempts(t *testing.T) {
	browser := newBrowser(t)
	s := serve(t)
	h := newHook(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	s.do("PUT", "/v1/timers/k", `{"in":"0s","to":{"webhook":"`+h.URL+`","method":"PUT","headers":{"Authorization":"Bearer hidden"}},"retry":{"backoff":"1h","most":"1h"}}`).json(http.StatusOK)
	h.next(t)
	s.becomes("k", tried)
	p := s.open(t, browser, windows[2])
	p.until("k", keys)
	p.tabTo("k")
	p.press(kb.Enter)
	p.until("details", opened)
	const list = `[...document.querySelectorAll('#attempts-list li')].map(item => item.textContent.replace(/^.*status/, 'status'))`
	p.until("status 418: the webhook answered 418 I'm a teapot", list)
	for name, want := range map[string]string{"Method": "PUT", "Headers": "Authorization", "Retries": "backoff 1h0m0s, most 1h0m0s"} {
		require.Equal(t, want, p.value(fact(name)))
	}
	p.tabTo("run")
	p.press(kb.Enter)
	h.next(t)
	p.until("1", `document.querySelectorAll('#attempts-list li').length + Number(document.getElementById('attempts').hidden)`)
	p.until("1", fact("Attempt"))
	p.tabTo("edit")
	p.press(kb.Enter)
	p.until("setting", opened)
	require.Equal(t, "Kept: method PUT; headers Authorization; retries backoff 1h0m0s, most 1h0m0s", p.value(text("set-kept")))
	p.check()
	p.tabTo("set-timeout")
	p.replace("7s")
	p.press(kb.Enter)
	p.until("", opened)
	again := s.do("GET", "/v1/timers/k", "")
	require.Contains(t, again.body, `"method":"PUT","headers":{"Authorization":"Bearer hidden"}},"timeout":"7s","retry":{"backoff":"1h0m0s","most":"1h0m0s"}`)
	require.Equal(t, "0", p.value(`(document.documentElement.outerHTML.match(/Bearer/g) || []).length`))
	p.check()
}

// Timers that fail have a view, with their errors and when they come again. Those that are dead, or wait for their first
// attempt, are not in it.
func TestPageOfFailing(t *testing.T) {
	browser := newBrowser(t)
	s := serve(t, "-max-attempts", "2")
	h := newHook(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	s.set("dead", "0s", "http://"+nobody(t), "")
	s.set("fails-1", "0s", h.URL, "")
	s.set("fails-2", "0s", h.URL, "")
	s.set("waits", "1h", h.URL, "")
	s.until("dead", "state", "dead")
	for _, key := range []string{"fails-1", "fails-2"} {
		s.becomes(key, func(a *answer) bool { return strings.Contains(a.body, "last_error") })
	}
	first := s.do("GET", "/v1/timers?state=failing&limit=1", "").json(http.StatusOK)
	require.Equal(t, "fails-1", first["next"])
	require.NotContains(t, s.do("GET", "/v1/timers?state=failing&after=fails-1", "").json(http.StatusOK), "next")
	code, out, _ := s.command("", "ls", "-state", "failing")
	require.Zero(t, code)
	require.Equal(t, "2 0", fmt.Sprint(strings.Count(out, "fails-"), " ", strings.Count(out, "waits")))

	p := s.open(t, browser, windows[2])
	p.until("dead fails-1 fails-2 waits", keys)
	p.tabTo("state")
	p.press("failing")
	p.until("fails-1 fails-2", keys)
	p.until("2 timers", text("status"))
	const row = `[...document.querySelector('#rows tr').cells].map(cell => cell.textContent).slice(1).join()`
	require.Regexp(t, "^waiting,in (1 hour|60 minutes|59 minutes),1,"+h.URL+",the webhook answered 503 Service Unavailable$", p.value(row))
	p.check()
}
