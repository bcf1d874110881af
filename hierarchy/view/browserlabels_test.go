package view

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// windows are sizes and colour schemes in which pages are tested.
var windows = []struct {
	width, height int
	scheme        string
}{{1280, 900, "light"}, {1010, 800, "dark"}, {700, 900, "light"}, {360, 800, "dark"}, {320, 700, "light"}}

// badLabels is an expression for the words of the histogram that extend beyond its edge,
// touch another word, or are too small.
const badLabels = `(() => {
	const edge = document.getElementById('late').getBoundingClientRect();
	const all = [...document.querySelectorAll('#late text')].map(node => ({ word: node.textContent, at: node.getBoundingClientRect() }));
	const touches = ({ at: a }, { at: b }) => a !== b && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
	return all.filter(({ at }) => at.left < edge.left - 0.01 || at.right > edge.right + 0.01 || at.bottom > edge.bottom + 0.01 || at.height < 9)
		.concat(all.filter(a => all.some(b => touches(a, b)))).map(({ word }) => word).join();
})()`

// The labels of lateness are not cut off, whatever its range.
func TestLabelsOfLatenessAreWhole(t *testing.T) {
	w := newLateWheel(t)
	s := serve(t, Handler(w))
	w.fire(1)
	s.show(s.server.URL+"/debug/wheel/", 1280, 900, "light")
	s.until("live", pageState)
	s.text(`Object.assign(document.getElementById('every'), { value: '100 ms' }).dispatchEvent(new Event('change'))`)
	for exponent, late := 0, time.Duration(1); exponent < 13; exponent, late = exponent+1, late*10 {
		w.fire(late, late+late/2)
		s.until(fmt.Sprint(w.Stats().Fired), shownAt("count-fired"))
		for _, window := range windows {
			if exponent%3 != 0 && window.width != 360 {
				continue // to save time
			}
			s.resize(window.width, window.height)
			s.text(`window.seen = Number(document.documentElement.dataset.events)`)
			s.until("true", `Number(document.documentElement.dataset.events) > window.seen`) // it was redrawn
			require.Empty(t, s.text(badLabels), "%v in %d", late, window.width)
			require.NotEqual(t, "0", s.text(`document.querySelectorAll('#late .power').length`))
			s.requireFits()
		}
	}
}

// illegibleNames is an expression for the names of circles that are not visible, too small,
// outside their strip, or so close to the next name that they touch.
const illegibleNames = `(() => {
	const strip = document.querySelector('#hands .strip'), free = strip.getBoundingClientRect();
	const pixels = free.width / strip.getAttribute('width');
	const names = [...document.querySelectorAll('#hands .name')].map(node => ({
		word: node.textContent, at: node.getBoundingClientRect(), size: node.getAttribute('font-size') * pixels,
	}));
	const legible = ({ at, size }) => at.height > 0 && size >= 9.5 && at.left >= free.left && at.right <= free.right;
	const apart = (name, i) => i === 0 || names[i - 1].at.bottom - name.at.bottom >= name.size;
	return names.filter((name, i) => !legible(name) || !apart(name, i)).map(({ word }) => word).join();
})()`

// The names of circles are legible, also on a telephone and after a window was resized.
func TestNamesOfCirclesAreLegible(t *testing.T) {
	s := newWheelPage(t)
	names := fmt.Sprint(len(s.wheel.Circles()))
	for _, window := range windows {
		s.show(s.server.URL+"/debug/wheel/", window.width, window.height, window.scheme)
		s.until("live", pageState)
		require.Equal(t, names, s.text(`document.querySelectorAll('#hands .name').length`))
		require.Empty(t, s.text(illegibleNames), "%d", window.width)
	}
	for _, window := range windows {
		s.resize(window.width, window.height)
		s.until("", illegibleNames)
		s.until(names, `document.querySelectorAll('#hands .name').length`)
		s.awaitFigures()
	}
}

// wrongGlows is an expression for the shades whose glow leaves the range of colours between
// the colour of a cascade and the shade. Chromium mixes colours of different colour spaces
// wrongly.
const wrongGlows = `(() => {
	const parts = text => text.match(/^rgb\((\d+), (\d+), (\d+)\)$/)?.slice(1).map(Number);
	return Array.from({ length: 10 }, (_, shade) => shade).filter(shade => {
		const slot = document.querySelectorAll('#rings .overflow .slot')[shade];
		slot.setAttribute('class', 'slot h' + shade);
		const own = parts(getComputedStyle(slot).fill);
		slot.classList.add('fall');
		const [glow] = slot.getAnimations();
		glow.pause();
		glow.currentTime = 0;
		const first = parts(getComputedStyle(slot).fill);
		glow.currentTime = 700;
		const between = parts(getComputedStyle(slot).fill);
		return !own || !first || !between?.every((part, i) => part >= Math.min(own[i], first[i]) && part <= Math.max(own[i], first[i]));
	}).join();
})()`

func TestSlotsGlowInTheirColours(t *testing.T) {
	s := newWheelPage(t)
	for _, scheme := range []string{"light", "dark"} {
		s.show(s.server.URL+"/debug/wheel/", 1280, 900, scheme)
		s.until("live", pageState)
		require.Empty(t, s.text(wrongGlows), scheme)
	}
}
