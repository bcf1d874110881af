package command

import (
	"bufio"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/tests/snippets"
)

const docs = "../../../../../../docs/"

// metricName matches what alerts, queries and pages name.
var metricName = regexp.MustCompile(`\bepicycle_[a-z_]+[a-z]\b`)

// The alerts, the dashboard and the command top are about metrics that the server has.
func TestAlertsAndDashboardKnowTheServer(t *testing.T) {
	s := serve(t)
	s.do("PUT", "/v1/timers/k", `{"in":"0s","to":{"queue":"q"}}`).json(200)
	s.limit("queue/paused", `{"paused":true}`)
	families := s.families()
	for begun := time.Now(); families["epicycle_queue_waiting"] == ""; families = s.families() { // the firing waits
		require.Less(t, time.Since(begun), enough)
	}
	text, err := snippets.Read(docs+"monitoring/alerts.yml", docs+"monitoring/dashboard.json")
	require.NoError(t, err)
	found := 0
	for _, name := range metricName.FindAllString(text, -1) {
		family := strings.TrimSuffix(name, "_bucket")
		require.Contains(t, families, family)
		found++
	}
	require.Greater(t, found, 50)
	code, err := snippets.Read("top.go")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`"((?:durable|queue)_[a-z_]+)"`).FindAllStringSubmatch(code, -1) {
		require.Contains(t, families, "epicycle_"+m[1], "top")
	}

	list, err := snippets.Read(docs + "monitoring/metrics.txt")
	require.NoError(t, err)
	want := ""
	shown := make(map[string]bool)
	for _, name := range metricName.FindAllString(text, -1) {
		shown[name] = true
	}
	for _, name := range s.ownFamilies(families) {
		kind, help, _ := strings.Cut(families[name], " | ")
		want += fmt.Sprintf("# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
		require.Contains(t, shown, name, "on the dashboard")
	}
	require.True(t, strings.HasSuffix(list, want), "the list has to end with this:\n%s", want)
}

// families returns the type and the help of each metric of the server.
func (s *served) families() map[string]string {
	all, help := make(map[string]string), ""
	for lines := bufio.NewScanner(strings.NewReader(s.do("GET", "/metrics", "").body)); lines.Scan(); {
		words := strings.SplitN(lines.Text(), " ", 4)
		switch {
		case len(words) == 4 && words[1] == "HELP":
			help = words[3]
		case len(words) == 4 && words[1] == "TYPE":
			all[words[2]] = words[3] + " | " + help
		}
	}
	return all
}

// ownFamilies returns those of the service itself, in order.
func (s *served) ownFamilies(families map[string]string) (own []string) {
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if strings.HasPrefix(name, "epicycle_") && !strings.HasPrefix(name, "epicycle_durable_") && !strings.HasPrefix(name, "epicycle_wheel_") {
			own = append(own, name)
		}
	}
	return own
}

// event is a message of the log.
var event = regexp.MustCompile(`\.(Info|Warn|Error|Debug)\("(epicycle: [^"]+)"`)

// docs/service-events.md has each warning and error that the server logs, and no other.
func TestMessagesAreInTheTable(t *testing.T) {
	files, err := filepath.Glob("../*/*.go")
	require.NoError(t, err)
	page, err := snippets.Read(docs + "service-events.md")
	require.NoError(t, err)
	errs, warnings, _ := strings.Cut(page, "# Warnings\n")
	tables := map[string]string{"Warn": warnings, "Error": errs}
	found, all := 0, ""
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		code, err := snippets.Read(file)
		require.NoError(t, err)
		all += code
		for _, m := range event.FindAllStringSubmatch(code, -1) {
			if table, listed := tables[m[1]]; listed {
				require.Regexp(t, `(?m)^\| [^|]*`+regexp.QuoteMeta("`"+m[2]+"`"), table)
				found++
			}
		}
	}
	require.GreaterOrEqual(t, found, 9)
	for _, m := range regexp.MustCompile("`(epicycle: [^`]+)`").FindAllStringSubmatch(page, -1) {
		require.True(t, strings.Contains(all, `"`+m[1]+`"`), "the page has %s, and the code does not", m[1])
	}
}
