package command

import (
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

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
