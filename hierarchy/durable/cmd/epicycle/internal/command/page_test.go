package command

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// pageServer is a server with tokens, three timers, and a dead one.
func pageServer(t *testing.T) *served {
	t.Helper()
	lines := ""
	for _, role := range []string{"read", "write", "admin"} {
		lines += fmt.Sprintf("%s %s %x\n", role, role, sha256.Sum256([]byte(role+"-token")))
	}
	lines += fmt.Sprintf("orders write %x order-\n", sha256.Sum256([]byte("orders-token")))
	s := serve(t, "-tokens", write(t, "tokens", lines), "-max-attempts", "1", "-allow", "192.0.2.0/24")
	s.head = http.Header{"Authorization": {"Bearer admin-token"}}
	s.do("PUT", "/v1/timers/dead", `{"in":"0s","to":{"webhook":"http://127.0.0.1:9/"}}`).json(http.StatusOK)
	for i := range 3 {
		s.do("PUT", fmt.Sprint("/v1/timers/order-", i), `{"in":"1h","value":{"n":9007199254740993},"to":{"queue":"q"}}`).json(http.StatusOK)
	}
	s.until("dead", "state", "dead")
	return s
}

// until waits until a field of a timer has a value.
func (s *served) until(key, field string, want any) {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return s.do("GET", "/v1/timers/"+key, "").json(http.StatusOK)[field] == want }, enough, 10*time.Millisecond)
}

// The page does all that it is for by keyboard alone, on a desktop and on a phone, light and dark, and the browser has
// nothing to complain of.
func TestPage(t *testing.T) {
	browser := newBrowser(t)
	for _, w := range windows {
		t.Run(w.name(), func(t *testing.T) {
			s := pageServer(t)
			p := s.open(t, browser, w)
			p.giveToken()
			p.look()
			p.set(s)
			p.moveAndRemove(s)
			p.reviveDead(s)
			p.pauseAndSetAnew(s)
			p.limit(s)
			p.check()
		})
	}
}

// giveToken gives the token that the page wants, and it is kept in the session alone.
func (p *tab) giveToken() {
	p.t.Helper()
	p.until("asking", opened)
	p.check()
	p.until("token", focus)
	p.press("wrong", kb.Enter)
	p.until("The server does not know this token.", text("ask-error"))
	p.until("asking", opened)
	p.press(kb.Escape)
	p.until("", opened)
	p.tabTo("token-button")
	p.press(kb.Enter)
	p.until("asking", opened)
	p.press("admin-token", kb.Enter)
	p.until("dead order-0 order-1 order-2", keys)
	p.until("4 timers", text("status"))
	require.Equal(p.t, "admin-token 1 0 ", p.value(`sessionStorage.token + ' ' + sessionStorage.length + ' ' + localStorage.length + ' ' + document.cookie`))
	p.run(chromedp.Reload())
	p.until("dead order-0 order-1 order-2", keys)
}

// look goes through the page and a timer's details, which keep the focus until they are closed.
func (p *tab) look() {
	p.t.Helper()
	require.Equal(p.t, "Timers Limits Live token-button prefix state BUTTON new REGION dead order-0",
		strings.NewReplacer("Refresh", "BUTTON", "\n", "").Replace(p.wayToRow()))
	p.press(kb.Enter)
	p.until("details", opened)
	p.check()
	require.Equal(p.t, "waiting", p.value(fact("State")))
	require.Equal(p.t, "queue q", p.value(fact("To")))
	require.Contains(p.t, p.value(text("details-value")), "9007199254740993") // which is no number of JavaScript
	for range 10 {
		p.press(kb.Tab)
		require.Equal(p.t, "true", p.value(`document.activeElement === document.body || !!document.activeElement.closest('#details')`))
	}
	p.press(kb.Escape)
	p.until("", opened)
	p.until("order-0", focus)
	p.shortcut("/")
	p.until("prefix", focus)
	p.press("order-1")
	p.until("order-1", keys)
	p.until("1 timer", text("status"))
	p.replace("")
	p.press(kb.Tab, "dead")
	p.until("dead", keys)
	p.press(kb.ArrowUp, kb.ArrowUp, kb.ArrowUp)
	p.until("dead order-0 order-1 order-2", keys)
}

// wayToRow is the way to the second row, on which the table is the region.
func (p *tab) wayToRow() string {
	p.value(`document.querySelector('.scroll').id = 'REGION'`)
	return p.tabTo("order-0")
}

// set sets a timer, after an error.
func (p *tab) set(s *served) {
	p.t.Helper()
	p.press(kb.Escape)
	p.value(`document.activeElement.blur()`)
	p.shortcut("n")
	p.until("setting", opened)
	p.until("set-key", focus)
	p.check()
	p.press("a/b ü", kb.Tab, kb.Tab, "soon", kb.Tab, "queue", kb.Tab, "q", kb.Tab, "5s", kb.Tab, kb.Tab)
	p.until("set-value", focus)
	p.replace(`{"n":`)
	p.tabTo("Set")
	p.press(kb.Enter)
	p.until("The value is not JSON", text("set-error")+`.slice(0, 21)`)
	p.back()
	p.replace(`{"n": 9007199254740993}`)
	p.press(kb.Tab, kb.Enter)
	p.until(`in: "soon" is not a duration such as 30m or 1.5s`, text("set-error"))
	p.mu.Lock()
	p.problems = nil // a status of 400 is an error to the browser
	p.mu.Unlock()
	p.backTo("set-when")
	p.replace("2h")
	p.press(kb.Enter)
	p.until("", opened)
	p.until("a/b ü dead order-0 order-1 order-2", keys)
	require.Contains(p.t, s.do("GET", "/v1/timers/a%2Fb%20%C3%BC", "").body, `"value":{"n":9007199254740993},"to":{"queue":"q"},"timeout":"5s"`)
}

// moveAndRemove moves a timer, sets it anew, and removes it; the focus goes to the next one.
func (p *tab) moveAndRemove(s *served) {
	p.t.Helper()
	p.tabTo("order-1")
	p.press(kb.Enter)
	p.until("details", opened)
	p.tabTo("move-when")
	p.press("2030-01-31T12:00:00Z", kb.Enter)
	p.until("", `document.getElementById('move-when').value`)
	require.Contains(p.t, s.do("GET", "/v1/timers/order-1", "").json(http.StatusOK)["due"], "2030-01-31T12:00:")
	p.press(kb.Escape)
	p.until("order-1", focus)
	p.press(kb.Enter)
	p.until("details", opened)
	p.tabTo("edit")
	p.press(kb.Enter)
	p.until("setting", opened)
	p.tabTo("Set")
	p.press(kb.Enter)
	p.until("", opened)
	require.Contains(p.t, s.do("GET", "/v1/timers/order-1", "").body, "9007199254740993")
	p.until("order-1", focus)
	p.press(kb.Enter)
	p.until("details", opened)
	p.tabTo("remove")
	p.press(kb.Enter)
	p.until("a/b ü dead order-0 order-2", keys)
	p.until("order-2", focus)
	s.do("GET", "/v1/timers/order-1", "").problem(http.StatusNotFound)
}

// reviveDead revives a dead timer, whose last error is shown.
func (p *tab) reviveDead(s *served) {
	p.t.Helper()
	p.backTo("dead")
	p.press(kb.Enter)
	p.until("details", opened)
	require.Contains(p.t, p.value(fact("Last error")), "127.0.0.1")
	require.Equal(p.t, "none", p.value(`getComputedStyle(document.getElementById('move')).display`))
	before := s.do("GET", "/v1/timers/dead", "").json(http.StatusOK)["due"]
	p.tabTo("revive")
	p.press(kb.Enter)
	require.Eventually(p.t, func() bool {
		e := s.do("GET", "/v1/timers/dead", "").json(http.StatusOK)
		return e["due"] != before && e["state"] == "dead"
	}, enough, 10*time.Millisecond)
	p.press(kb.Escape)
	p.until("dead", focus)
}

// limit limits a queue, pauses it, resumes it, and removes what is left.
func (p *tab) limit(s *served) {
	p.t.Helper()
	shown := `[...document.querySelectorAll('#limits-rows td:not(:last-child)')].map(cell => cell.textContent).join()`
	p.tabTo("limit-name")
	p.press("mails", kb.Tab, "2.5", kb.Tab, "7", kb.Enter)
	p.until("queue,mails,2.5 a second, 7 at once,0", shown)
	p.check()
	for _, want := range []string{"paused, 2.5 a second, 7 at once", "2.5 a second, 7 at once"} {
		p.value(`document.querySelector('#limits-rows button').focus()`)
		p.press(kb.Enter)
		p.until("queue,mails,"+want+",0", shown)
		p.until("mails", `document.activeElement.dataset.limit?.split(' ')[1]`)
	}
	p.press(kb.Tab, kb.Enter)
	p.until("", shown)
	p.until("Nothing is paused or limited.", text("limits-status"))
	require.Empty(p.t, s.do("GET", "/v1/limits", "").json(http.StatusOK)["limits"])
}

// pauseAndSetAnew pauses a schedule, sets it anew in the form, which leaves it paused, and resumes it.
func (p *tab) pauseAndSetAnew(s *served) {
	p.t.Helper()
	p.shortcut("n")
	p.until("setting", opened)
	p.press("daily", kb.Tab, "schedule")
	p.until("true", `String(document.getElementById('set-quiet').closest('label').hidden)`)
	p.press(kb.Tab, "@daily", kb.Tab, "1h", kb.Tab, "2040-01-31T12:00:00Z", kb.Tab, "2041-01-31T12:00:00Z", kb.Tab, "queue", kb.Tab, "q", kb.Enter)
	p.until("", opened)
	const text = "FROM=2040-01-31T12:00:00Z UNTIL=2041-01-31T12:00:00Z SPREAD="
	set := s.do("GET", "/v1/timers/daily", "").json(http.StatusOK)["schedule"]
	require.Contains(p.t, set, text)
	p.until("a/b ü daily dead order-0 order-2", keys)
	p.backTo("daily")
	p.press(kb.Enter)
	p.until("details", opened)
	p.tabTo("pause")
	p.press(kb.Enter)
	p.until("paused", fact("State"))
	p.check()
	p.tabTo("edit")
	p.press(kb.Enter)
	p.until("setting", opened)
	p.tabTo("Set")
	p.press(kb.Enter)
	p.until("", opened)
	daily := s.do("GET", "/v1/timers/daily", "").json(http.StatusOK)
	require.Equal(p.t, true, daily["paused"])
	require.Equal(p.t, set, daily["schedule"])
	p.until("daily", focus)
	p.press(kb.Enter)
	p.until("details", opened)
	p.tabTo("pause")
	p.press(kb.Enter)
	p.until("waiting", fact("State"))
	p.press(kb.Escape)
	p.until("daily", focus)
}

// A debounced timer is set in the form.
func TestPageSetsDebounced(t *testing.T) {
	browser := newBrowser(t)
	s := pageServer(t)
	p := s.open(t, browser, desktop)
	p.giveToken()
	p.shortcut("n")
	p.until("setting", opened)
	p.press("search", kb.Tab, "debounce", kb.Tab, "1h", kb.Tab, "2h", kb.Tab, "queue", kb.Tab, "q")
	p.check()
	p.press(kb.Enter)
	p.until("", opened)
	p.until("dead order-0 order-1 order-2 search", keys)
}

// A token that may read alone sees no button that would fail, and one for a prefix sees its keys and begins new ones so.
func TestPageOfTokens(t *testing.T) {
	browser := newBrowser(t)
	s := pageServer(t)
	const shown = `[...document.querySelectorAll('button')].filter(button => button.checkVisibility() && !button.closest('#rows')).map(button => button.textContent).join()`
	p := s.open(t, browser, desktop)
	p.until("token", focus)
	p.press("read-token", kb.Enter)
	p.until("dead order-0 order-1 order-2", keys)
	require.Equal(t, "Forget the token,Refresh", p.value(shown))
	p.tabTo("dead")
	p.shortcut("n") // sets nothing
	p.press(kb.Enter)
	p.until("details", opened)
	require.Equal(t, "Forget the token,Refresh,Close", p.value(shown))
	p.check()
	p.press(kb.Escape)
	p.backTo("token-button")
	p.press(kb.Enter)
	p.until("asking", opened)
	require.Empty(t, p.value(keys))
	require.Equal(t, "0", p.value(`sessionStorage.length`))
	p.press("orders-token", kb.Enter)
	p.until("order-0 order-1 order-2", keys)
	p.tabTo("order-0")
	p.shortcut("n")
	p.until("order-", `document.getElementById('set-key').value`)
	p.check()
}

// Without tokens nobody is asked for one. The live page is shown, and what is text stays text.
func TestPageWithoutTokens(t *testing.T) {
	browser := newBrowser(t)
	s := serve(t)
	s.do("PUT", "/v1/timers/%3Cb%3Ebold%3C%2Fb%3E", `{"in":"1h","value":"<img src=x onerror=alert(1)>","to":{"queue":"<i>"}}`).json(http.StatusOK)
	p := s.open(t, browser, windows[2])
	p.until("<b>bold</b>", keys)
	require.Equal(t, "true 0", p.value(`document.getElementById('token-button').hidden + ' ' + sessionStorage.length`))
	p.tabTo("<b>bold</b>")
	p.press(kb.Enter)
	p.until(`"<img src=x onerror=alert(1)>"`, text("details-value"))
	p.press(kb.Escape)
	p.value(`document.getElementById('frame').scrollIntoView()`)
	p.until("epicycle", `document.getElementById('frame').contentDocument.querySelector('h1')?.textContent`)
	p.check()
}

// Keys of dots alone, which a browser can't have in a path, are shown, moved and removed like others.
func TestPageOfDots(t *testing.T) {
	browser := newBrowser(t)
	s := serve(t)
	for _, key := range []string{".", ".."} {
		s.do("PUT", "/v1/timers/"+encoded(key), `{"in":"1h","to":{"queue":"q"}}`).json(http.StatusOK)
	}
	p := s.open(t, browser, desktop)
	p.until(". ..", keys)
	p.tabTo(".")
	for _, key := range []string{".", ".."} {
		p.until(key, focus) // the next one gets it when one is removed
		p.press(kb.Enter)
		p.until("details", opened)
		p.until(key, text("details-key"))
		p.tabTo("move-when")
		p.press("2030-01-31T12:00:00Z", kb.Enter)
		p.until("", `document.getElementById('move-when').value`)
		require.Contains(t, s.do("GET", "/v1/timers/"+encoded(key), "").json(http.StatusOK)["due"], "2030-01-31T12:00:")
		p.tabTo("remove")
		p.press(kb.Enter)
		p.until("", opened)
		s.do("GET", "/v1/timers/"+encoded(key), "").problem(http.StatusNotFound)
	}
	p.check()
}

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
