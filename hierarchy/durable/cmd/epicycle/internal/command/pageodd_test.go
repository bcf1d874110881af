package command

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// What is set anew keeps its key and its queue, whatever characters they have, and a failed attempt shows why. A time is
// not a name of a day, which it may miss.
func TestPageOfOddTimers(t *testing.T) {
	browser := newBrowser(t)
	s := serve(t)
	h := newHook(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1800")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	s.do("PUT", "/v1/timers/a%0Ab", `{"in":"30h","value":1,"to":{"queue":"q\nr"}}`).json(http.StatusOK)
	s.set("fails", "0s", h.URL, "")
	s.becomes("fails", func(a *answer) bool { return strings.Contains(a.body, "last_error") })
	p := s.open(t, browser, windows[2])
	p.until("a\nb fails", keys)
	const column = `[...document.querySelectorAll('#rows td[data-label="%s"]')].map(td => td.textContent).join()`
	require.Equal(t, "in 1 day,in 30 minutes", p.value(fmt.Sprintf(column, "Next")))
	const reason = "the webhook answered 503 Service Unavailable"
	require.Equal(t, ","+reason, p.value(fmt.Sprintf(column, "Last error")))
	p.check()
	p.setAnew(s)
	p.tabTo("fails")
	p.press(kb.Enter)
	p.until("details", opened)
	require.Equal(t, reason, p.value(fact("Last error")))
	require.Contains(t, p.value(fact("Next attempt")), "(in 30 minutes)")
	require.NotEqual(t, "undefined", p.value(fact("Failed")))
	p.check()
}

// setAnew changes the timeout of a timer with newlines, and nothing else.
func (p *tab) setAnew(s *served) {
	p.t.Helper()
	p.tabTo("a\nb")
	p.press(kb.Enter)
	p.until("details", opened)
	require.Equal(p.t, "undefined", p.value(fact("Last error")))
	p.tabTo("edit")
	p.press(kb.Enter)
	p.until("setting", opened)
	p.tabTo("set-timeout")
	p.replace("7s")
	p.press(kb.Enter)
	p.until("", opened)
	anew := s.do("GET", "/v1/timers/a%0Ab", "").json(http.StatusOK)
	require.Equal(p.t, "7s", anew["timeout"])
	require.Equal(p.t, map[string]any{"queue": "q\nr"}, anew["to"])
	p.until("2 timers", text("status"))
	p.until("a\nb", focus)
}
