package view

import (
	"encoding/hex"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

const wheelURL = "/debug/wheel/"

// overfilled is a wheel whose only worker is busy until the test ends, with callbacks behind it.
func overfilled(t *testing.T) *hierarchy.Wheel {
	w, err := hierarchy.New(hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Pool(1)})
	require.NoError(t, err)
	release := make(chan struct{})
	t.Cleanup(func() { close(release); w.Stop() })
	for range 100 {
		_, err := w.AfterFunc(0, func() { <-release })
		require.NoError(t, err)
	}
	return w
}

// The page of a wheel whose callbacks wait too long says so, and so does an Index.
func TestPageOfAnOverfilledPool(t *testing.T) {
	w := overfilled(t)
	s := serve(t, Handler(w))
	s.show(s.server.URL+wheelURL, 1280, 900, "light")
	s.until("callbacks wait too long", shownAt("status"))
	s.until("99", shownAt("count-queued"))
	require.Equal(t, "true", s.text(`document.querySelector('#counters .queued').classList.contains('bad')`))
	require.Equal(t, "false", s.text(`document.getElementById('waited').hidden`))
	s.requireFits()
}

func TestIndexOfAnOverfilledPool(t *testing.T) {
	other, _ := newWheel(t)
	s := serve(t, Index(map[string]Source{"full": overfilled(t), "other": other}))
	s.show(s.server.URL+wheelURL, 1280, 900, "light")
	s.until("callbacks wait too long", shownAt("status"))
	s.until("99", `[...document.querySelectorAll('#wheels td.bad')].map(c => c.textContent).join('|')`)
	s.requireFits()
}

// The page of a wheel that was stopped says so, and its hands stand still.
func TestPageOfAStoppedWheel(t *testing.T) {
	w, err := hierarchy.New(hierarchy.Config{Clock: clock.System()})
	require.NoError(t, err)
	s := serve(t, Handler(w))
	s.show(s.server.URL+wheelURL, 1280, 900, "light")
	s.until("live", pageState)
	w.Stop()
	s.until("the wheel is stopped", shownAt("status"))
	s.text(`window.seen = Number(document.documentElement.dataset.events)`)
	s.until("true", `Number(document.documentElement.dataset.events) > window.seen + 1`)
	s.text(`window.moved = 0`)
	s.text(`new MutationObserver(all => { window.moved += all.length; }).observe(document.getElementById('hands'), { attributes: true, subtree: true })`)
	s.text(`window.seen = Number(document.documentElement.dataset.events)`)
	s.until("true", `Number(document.documentElement.dataset.events) > window.seen + 4`)
	require.Equal(t, "0", s.text(`window.moved`))
	s.requireFits()
}

// An idle page draws only what a snapshot has changed.
func TestIdlePageDrawsLittle(t *testing.T) {
	w, err := hierarchy.New(hierarchy.Config{Clock: clock.System()})
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	s := serve(t, Handler(w))
	s.show(s.server.URL+wheelURL, 1280, 900, "light")
	s.until("live", pageState)
	s.text(`window.seen = Number(document.documentElement.dataset.events)`)
	s.until("true", `Number(document.documentElement.dataset.events) > window.seen + 2`)
	s.text(`(() => { window.frames_ = 0; const ask = requestAnimationFrame;
		window.requestAnimationFrame = f => { window.frames_++; return ask(f); };
		window.drawn = 0;
		for (const id of ['late', 'rates', 'rings']) new MutationObserver(all => { window.drawn += all.length; })
			.observe(document.getElementById(id), { attributes: true, subtree: true, childList: true });
		window.seen = Number(document.documentElement.dataset.events); })()`)
	s.until("true", `Number(document.documentElement.dataset.events) > window.seen + 6`)
	require.Equal(t, "true", s.text(`window.frames_ <= Number(document.documentElement.dataset.events) - window.seen`))
	require.Equal(t, "0", s.text(`window.drawn`))
}

const clipped = `[...document.querySelectorAll('.scroll, details, .figures section')]
	.filter(box => box.scrollWidth > box.clientWidth + 1).map(box => (box.id || box.className) + ' ' + box.scrollWidth + '>' + box.clientWidth).join()`

// Nothing is cut off: not the table of lateness, not the columns beside a long name, and on a
// phone not the table of logs.
func TestNothingIsCutOff(t *testing.T) {
	late := newLateWheel(t)
	late.fire(1, 1000, time.Second, time.Hour)
	long := strings.Repeat("timeouts-of-connections/", 5)
	s := serve(t, Index(map[string]Source{long: late, "logs": newLogged(t)}))
	for _, window := range windows {
		s.show(s.server.URL+wheelURL, window.width, window.height, window.scheme)
		s.until("2", `document.querySelectorAll('#wheels tbody tr').length`)
		require.Empty(t, s.text(clipped), window.width)
		s.requireFits()
		s.show(s.server.URL+wheelURL+queryFor(long), window.width, window.height, window.scheme)
		s.until("4", shownAt("count-fired"))
		s.text(`document.getElementById('late-table').open = true`)
		s.until("true", `document.querySelectorAll('#late-table tbody tr').length > 3`)
		require.Empty(t, s.text(clipped))
		s.requireFits()
	}
	for _, width := range []int{360, 1280} {
		s.show(s.server.URL+wheelURL+queryFor("logs"), width, 800, "light")
		s.until("true", `document.querySelectorAll('#logs tbody tr').length > 0`)
		require.Empty(t, s.text(clipped))
		s.requireFits()
		require.Equal(t, "true", s.text(`getComputedStyle(document.getElementById('counters')).gridTemplateColumns.split(' ').length <= 2`))
	}
}

// On a phone a wheel without timers takes a line, and the rows can be sorted.
func TestManyWheelsOnAPhone(t *testing.T) {
	wheels := map[string]Source{}
	for i := range 19 {
		w, _ := newWheel(t)
		wheels[string(rune('a'+i))] = w
		if i == 7 {
			_, err := w.AfterFunc(time.Hour, func() {})
			require.NoError(t, err)
		}
	}
	s := serve(t, Index(wheels))
	s.show(s.server.URL+wheelURL, 360, 800, "light")
	s.until("18", `document.querySelectorAll('#wheels tr.idle').length`)
	require.Equal(t, "true", s.text(`document.documentElement.scrollHeight < 1200`))
	s.text(`Object.assign(document.getElementById('sort'), { value: 'pending' }).dispatchEvent(new Event('change'))`)
	s.until("habcdefgijklmnopqrs", `[...document.querySelectorAll('#wheels tbody th a')].map(a => a.textContent).join('')`)
}

// Each landmark has a name of its own.
func TestLandmarksAreUnique(t *testing.T) {
	for name, text := range map[string]string{
		"wheel": wheelLayouts[kind{keys: true, logs: true}]().text, "index": indexLayout().text,
	} {
		seen := map[string]bool{}
		for _, tag := range regexp.MustCompile(`<section[^>]*>|<[^>]*role="region"[^>]*>`).FindAllString(text, -1) {
			label := regexp.MustCompile(`aria-label(ledby)?="[^"]*"`).FindString(tag)
			require.False(t, seen[label] && label != "", "%s: %s", name, tag)
			seen[label] = true
		}
	}
}

// The row of the base circle is legible: WCAG asks for a contrast of 4.5.
func TestContrastOfBase(t *testing.T) {
	values := func(name string) (all []string) {
		for _, m := range regexp.MustCompile(`--`+name+`: #([0-9a-f]{3,6})`).FindAllStringSubmatch(file("style.css"), -1) {
			if len(m[1]) == 3 {
				m[1] = strings.Repeat(m[1][:1], 2) + strings.Repeat(m[1][1:2], 2) + strings.Repeat(m[1][2:], 2)
			}
			all = append(all, m[1])
		}
		return all
	}
	base, card := values("base"), values("card")
	require.Len(t, base, 2)
	require.Len(t, card, 2)
	for i := range base {
		text, back := rgb(t, base[i]), rgb(t, card[i])
		for c := range back {
			back[c] += (text[c] - back[c]) * 0.1
		}
		a, b := luminance(text)+0.05, luminance(back)+0.05
		require.GreaterOrEqual(t, max(a, b)/min(a, b), 4.5, base[i])
	}
}

func rgb(t *testing.T, text string) (c [3]float64) {
	b, err := hex.DecodeString(text)
	require.NoError(t, err)
	for i := range c {
		c[i] = float64(b[i]) / 255
	}
	return c
}

func luminance(c [3]float64) float64 {
	for i, x := range c {
		if c[i] = math.Pow((x+0.055)/1.055, 2.4); x <= 0.04045 {
			c[i] = x / 12.92
		}
	}
	return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2]
}
