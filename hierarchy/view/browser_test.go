package view

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

const (
	pageError = `document.documentElement?.dataset.error`
	pageState = `document.documentElement?.dataset.state`
)

func shownAt(id string) string { return fmt.Sprintf(`document.getElementById(%q)?.textContent`, id) }

// openPage is a handler whose page is open in a browser.
type openPage struct {
	*browser
	server   *httptest.Server
	watchers atomic.Int32
}

func serve(t *testing.T, h http.Handler) *openPage {
	s := &openPage{browser: startBrowser(t)}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/wheel/", func(w http.ResponseWriter, r *http.Request) {
		s.watchers.Add(1)
		defer s.watchers.Add(-1)
		h.ServeHTTP(w, r)
	})
	s.server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.call("Page.navigate", map[string]any{"url": "about:blank"}, nil) // ends its stream
		s.server.Close()
	})
	return s
}

// requireFits requires that the page is not wider than the window, and has no error.
func (s *openPage) requireFits() {
	s.t.Helper()
	require.Equal(s.t, "true", s.text(`document.documentElement.scrollWidth <= innerWidth`), "the page is wider than the window")
	require.Equal(s.t, "undefined", s.text(pageError))
}

// wheelPage is a wheel on a mock whose page is open in a browser.
type wheelPage struct {
	*openPage
	wheel *hierarchy.Wheel
	mock  *clock.Mock
}

func newWheelPage(t *testing.T) *wheelPage {
	w, m := newWheel(t)
	return &wheelPage{serve(t, Handler(w)), w, m}
}

func (s *wheelPage) set(n int, step time.Duration) {
	for i := range n {
		_, err := s.wheel.AfterFunc(time.Duration(i+1)*step, func() {})
		require.NoError(s.t, err)
	}
}

// awaitFigures waits until the page shows the wheel's figures, and no error.
func (s *wheelPage) awaitFigures() {
	s.t.Helper()
	st := s.wheel.Stats()
	for field, n := range map[string]uint64{
		"pending": uint64(st.Pending), "fired": st.Fired, "scheduled": st.Scheduled,
		"cascaded": st.Cascaded, "panics": st.Panics, "skipped": st.Skipped,
	} {
		s.until(strconv.FormatUint(n, 10), shownAt("count-"+field)+`.replaceAll(',', '')`)
	}
	for k, c := range s.wheel.Circles() {
		used, all := 0, 0
		for _, n := range c.Slots {
			used += min(n, 1)
			all += n
		}
		row := fmt.Sprintf(`[...document.querySelectorAll('#circles tr[class]')[%d].cells].slice(3).map(c => c.textContent.replace(',', '')).join('|')`, k)
		s.until(fmt.Sprintf("slot %d|%d|%d", c.Hand, all, used), row)
		s.until(strconv.Itoa(used), fmt.Sprintf(`document.querySelectorAll('#rings .slot[data-k="%d"]:not(.h0)').length`, k))
	}
	require.Equal(s.t, "undefined", s.text(pageError))
}

func TestPageShowsTheWheel(t *testing.T) {
	s := newWheelPage(t)
	for _, window := range []struct {
		width, height int
		scheme        string
	}{{1280, 900, "light"}, {1280, 900, "dark"}, {360, 800, "light"}} {
		s.show(s.server.URL+"/debug/wheel/", window.width, window.height, window.scheme)
		s.until("live", pageState)
		require.Equal(t, "true", s.text(`document.documentElement.scrollWidth <= innerWidth`), "the page is wider than %d", window.width)
		s.awaitFigures()
		s.set(5000, 100*time.Millisecond)
		s.awaitFigures()
		s.mock.Add(100 * time.Second)
		s.awaitFigures()
	}
	s.until("0 ns", shownAt("late-p99")+`.replace(/\s/, ' ')`)
	s.until("true", `document.querySelectorAll('#late .bar').length === 1`)
}

// The row of a circle opens by keyboard to a table of its slots with all its timers.
func TestCircleOpensToItsSlots(t *testing.T) {
	s := newWheelPage(t)
	s.set(640, time.Second)
	s.show(s.server.URL+"/debug/wheel/", 1280, 900, "light")
	s.until("live", pageState)
	s.text(`document.querySelectorAll('#circles button')[5].focus()`)
	for _, kind := range []string{"keyDown", "keyUp"} {
		s.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13}, nil)
	}
	s.until("true", `document.activeElement.getAttribute('aria-expanded')`)
	sum := `[...document.querySelectorAll('#slots-5 tbody td:nth-child(2)')].reduce((sum, cell) => sum + Number(cell.textContent), 0)`
	on := 0
	for _, n := range s.wheel.Circles()[5].Slots {
		on += n
	}
	require.Positive(t, on)
	s.until(strconv.Itoa(on), sum)
	require.Equal(t, "undefined", s.text(pageError))
}

// The page shows that a connection is lost, and reconnects. A paused page requests nothing.
func TestConnection(t *testing.T) {
	s := newWheelPage(t)
	s.show(s.server.URL+"/debug/wheel/", 1280, 900, "light")
	s.until("live", pageState)
	s.text(`window.lost = new Promise(done => new MutationObserver(() => {
		if (document.documentElement.dataset.state === 'lost') { window.wasLost = document.getElementById('status').textContent; done(); }
	}).observe(document.documentElement, { attributes: true }))`)
	s.server.CloseClientConnections()
	s.until("connection lost – trying again", `window.wasLost`)
	s.until("live", pageState)
	s.set(10, time.Second)
	s.awaitFigures()

	s.text(`document.getElementById('pause').click()`)
	s.until("paused", shownAt("status"))
	require.Eventually(t, func() bool { return s.watchers.Load() == 0 }, time.Minute, 10*time.Millisecond)
	s.text(`document.getElementById('pause').click()`)
	s.until("live", pageState)
	require.Equal(t, "undefined", s.text(pageError))
}

// When the interval changes, the same snapshot may be sent again. The lines of the rates
// stay.
func TestRatesStayWithAnotherInterval(t *testing.T) {
	s := newWheelPage(t)
	s.show(s.server.URL+"/debug/wheel/", 1280, 900, "light")
	s.until("live", pageState)
	s.set(10, time.Millisecond)
	s.mock.Add(time.Second)
	points := `document.querySelector('#rate-fired + * > :nth-child(2)')?.getAttribute('d')?.split('L').length > 5`
	s.until("true", points)
	s.text(`window.seen = Number(document.documentElement.dataset.events)`)
	s.text(`Object.assign(document.getElementById('every'), { value: '1 s' }).dispatchEvent(new Event('change'))`)
	s.until("true", `Number(document.documentElement.dataset.events) > window.seen + 2`)
	require.Equal(t, "true", s.text(points))
}
