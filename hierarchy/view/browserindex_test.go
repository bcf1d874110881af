package view

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// row returns an expression for the text of a row of an index, without the rates, which
// depend on when it is read.
func row(i int) string {
	return fmt.Sprintf(`[...(document.querySelectorAll('#wheels tbody tr')[%d]?.cells ?? [])]
		.filter((_, column) => column < 2 || column > 4).map(cell => cell.textContent.replace(/\s/g, ' ')).join('|')`, i)
}

func TestIndexInTheBrowser(t *testing.T) {
	w, m := newWheel(t)
	late := newLateWheel(t)
	s := serve(t, Index(map[string]Source{oddName: w, "late": late}, Title("Here")))
	for range 1234 {
		_, err := w.AfterFunc(time.Hour, func() {})
		require.NoError(t, err)
	}
	late.fire(time.Hour) // before the first snapshot
	for i, window := range windows {
		s.show(s.server.URL+"/debug/wheel/", window.width, window.height, window.scheme)
		s.until("live", pageState)
		late.fire(1000)
		s.until(oddName+"|1,234|–|–|–|0|0|0|0", row(0))
		s.until("late|0|1.02 µs|1.02 µs|1.02 µs|0|0|0|0", row(1))
		s.until("true", `document.querySelector('#wheels tbody td:nth-child(3)').textContent !== '–'`) // a rate
		s.requireFits()
		require.EqualValues(t, i+2, late.Stats().Fired)
	}
	require.Equal(t, "Here", s.text(`document.title`))

	s.text(`document.querySelector('#wheels a').click()`)
	s.until(oddName, `document.querySelector('h1')?.textContent`)
	s.until("1,234", shownAt("hub"))
	m.Add(time.Hour)
	s.until("1,234", shownAt("count-fired"))
	s.requireFits()
	s.text(`document.querySelector('a.up').click()`)
	s.until(oddName+"|0|0 ns|0 ns|0 ns|0|0|0|0", row(0))
	s.requireFits()
}

// The page shows the lateness of the last minute next to that since the start.
func TestLatenessOfTheLastMinute(t *testing.T) {
	w := newLateWheel(t)
	w.fire(time.Hour)
	s := serve(t, Handler(w))
	s.show(s.server.URL+"/debug/wheel/", 1280, 900, "light")
	s.until("60 min", shownAt("late-max")+`.replace(/\s/, ' ')`)
	require.Equal(t, "–", s.text(shownAt("recent-max")))
	w.fire(1000, 1000, 1000)
	s.until("1.02 µs", shownAt("recent-max")+`.replace(/\s/, ' ')`)
	s.until("60 min", shownAt("late-max")+`.replace(/\s/, ' ')`)
	s.until("2|1", `[document.querySelectorAll('#late .bar').length, document.querySelectorAll('#late .recent-bar').length].join('|')`)
	s.until("true", `/^last \d+ s$/.test(document.getElementById('recent-name').textContent)`)
	s.text(`document.querySelector('#late-table summary').click()`)
	s.until("3|3|0|1", `[...document.querySelectorAll('#late-table tbody tr')].flatMap(r => [r.cells[2].textContent, r.cells[3].textContent]).join('|')`)
	s.requireFits()
}
