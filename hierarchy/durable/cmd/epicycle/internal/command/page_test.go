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
