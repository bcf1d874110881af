package view

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// logged is a wheel with logs that a test sets.
type logged struct {
	*hierarchy.Wheel
	mock *clock.Mock
	logs []Log
}

func (l *logged) Logs() []Log { return l.logs }

var _ LogSource = (*logged)(nil)

func newLogged(t testing.TB) *logged {
	w, m := newWheel(t)
	var commit hierarchy.Histogram
	commit.Add(300 * time.Microsecond)
	return &logged{w, m, []Log{
		{Pending: 1000, Running: 2, Stuck: 5, Dead: 3, Failed: 4, Frames: 50, Bytes: 6_000, DiskBytes: 70_000_000, LiveBytes: 8_000, Commit: commit},
		{Err: errors.New("frame <7> is missing")},
		{Pending: 1},
	}}
}

// The package comment promises these names.
func TestLogsInJSON(t *testing.T) {
	o := object(t, body(t, get(t, Handler(newLogged(t)), http.MethodGet, "/json")))
	logs := o["logs"].([]any)
	require.Len(t, logs, 3)
	names := []string{"bytes", "commit", "dead", "disk_bytes", "failed", "frames", "live_bytes", "pending", "running", "stuck"}
	require.Equal(t, names, fields(logs[0]))
	require.Equal(t, json.Number("50"), logs[0].(map[string]any)["frames"])
	commit := logs[0].(map[string]any)["commit"]
	require.Equal(t, []string{"count", "max_ns", "mean_ns", "p50_ns", "p90_ns", "p999_ns", "p99_ns"}, fields(commit))
	require.Equal(t, json.Number("300000"), commit.(map[string]any)["max_ns"])
	require.Equal(t, "frame <7> is missing", logs[1].(map[string]any)["error"])

	w, _ := newWheel(t)
	require.NotContains(t, fields(any(object(t, body(t, get(t, Handler(w), http.MethodGet, "/json"))))), "logs")
	none := newLogged(t)
	none.logs = nil
	require.Contains(t, body(t, get(t, Handler(none), http.MethodGet, "/json")), `"logs":[]`)
}

// Only the page of a source with logs has a table of them, also in an Index.
func TestOnlyPagesOfLogsHaveATableOfThem(t *testing.T) {
	l := newLogged(t)
	w, _ := newWheel(t)
	index := Index(map[string]Source{"logged": l, "wheel": w})
	for path, has := range map[string]bool{"/": false, "/?wheel=logged": true, "/?wheel=wheel": false} {
		require.Equal(t, has, strings.Contains(body(t, get(t, index, http.MethodGet, path)), `<table id="logs" `), path)
	}
}

// logRows is an expression for the rows of the table of logs.
const logRows = `[...document.querySelectorAll('#logs tbody tr, #logs tfoot tr')].map(row => [...row.cells].filter(cell => !cell.hidden).map(cell => cell.textContent.replace(/\s/g, ' ')).join('|')).join('\n')`

func TestPageShowsLogs(t *testing.T) {
	l := newLogged(t)
	l.mock.Set(time.Date(2030, time.May, 1, 12, 0, 0, 0, time.UTC))
	s := serve(t, Handler(l))
	for _, window := range windows {
		s.show(s.server.URL+"/debug/wheel/", window.width, window.height, window.scheme)
		s.until("live", pageState)
		s.until(strings.Join([]string{
			"0|1,000|2|5|3|4|50|6 KB|70 MB|8 KB|300 µs|300 µs|300 µs",
			"1|frame <7> is missing",
			"2|1|0|0|0|0|0|0 B|0 B|0 B|–|–|–",
			"all|1,001|2|5|3|4|50|6 KB|70 MB|8 KB|",
		}, "\n"), logRows)
		s.until("5", shownAt("count-stuck"))
		s.until("3", shownAt("count-dead"))
		s.until("4", shownAt("count-failed"))
		require.Equal(t, "attempts,frames,set", s.text(`[...document.querySelectorAll('#rates dt')].map(dt => dt.textContent)`))
		require.Equal(t, "true", s.text(`document.querySelector('.counters .dead').classList.contains('bad')`))
		s.requireFits()
	}
	require.Regexp(t, `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d UTC$`, s.text(shownAt("elapsed")))
}

// together is a wheel with logs that several processes share.
type together struct {
	*logged
	members []Member
}

func (s *together) Members() []Member { return s.members }

var _ MemberSource = (*together)(nil)

func newTogether(t testing.TB) *together {
	s := &together{newLogged(t), []Member{
		{Text: "<one>, process 1", Partitions: 2, Self: true}, {Text: "two, process 2", Partitions: 1, Leaving: true},
	}}
	s.logs[0].Owner, s.logs[1].Owner = s.members[0].Text, s.members[1].Text
	return s
}

// The package comment promises these names.
func TestMembersInJSON(t *testing.T) {
	s := newTogether(t)
	o := object(t, body(t, get(t, Handler(s), http.MethodGet, "/json")))
	members := o["members"].([]any)
	require.Len(t, members, 2)
	require.Equal(t, []string{"partitions", "self", "text"}, fields(members[0]))
	require.Equal(t, []string{"leaving", "partitions", "text"}, fields(members[1]))
	require.Equal(t, "<one>, process 1", o["logs"].([]any)[0].(map[string]any)["owner"])
	require.NotContains(t, fields(o["logs"].([]any)[2]), "owner")
	s.members = nil
	require.NotContains(t, body(t, get(t, Handler(s), http.MethodGet, "/json")), `"members"`)
}

// memberRows is an expression for the rows of the table of members that are shown.
const memberRows = `[...document.querySelectorAll('#members-part:not([hidden]) tbody tr')].map(row => [...row.cells].map(cell => cell.textContent).join('|')).join('\n')`

// ownerCells is an expression for the cells of the column with the owners that are shown.
const ownerCells = `[...document.querySelectorAll('#logs .owner')].filter(cell => !cell.hidden).map(cell => cell.textContent).join('|')`

func TestPageShowsMembers(t *testing.T) {
	source := newTogether(t)
	s := serve(t, Handler(source))
	for _, window := range windows {
		s.show(s.server.URL+"/debug/wheel/", window.width, window.height, window.scheme)
		s.until("live", pageState)
		s.until("<one>, process 1|2|this process\ntwo, process 2|1|leaving", memberRows)
		s.until("|owner|<one>, process 1|two, process 2|nobody|", ownerCells)
		s.requireFits()
	}
}

// Without members, the page does not speak of owners.
func TestPageWithoutMembers(t *testing.T) {
	s := serve(t, Handler(newLogged(t)))
	s.show(s.server.URL+"/debug/wheel/", windows[0].width, windows[0].height, windows[0].scheme)
	s.until("live", pageState)
	s.until("", memberRows)
	s.until("", ownerCells)
}
