package metrics_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"

	wheelmetrics "github.com/epicycle-go/epicycle/compat/adapters/prometheus"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/metrics"
	"github.com/epicycle-go/epicycle/tests/snippets"
)

const docs = "../../../docs/"

// everything has a family for each metric of durable timers and of wheels.
func everything(t *testing.T) []*dto.MetricFamily {
	w, err := hierarchy.New(hierarchy.Config{})
	require.NoError(t, err)
	defer w.Stop()
	timers := &fixed{Partitions: make([]durable.PartitionStats, 1)}
	return families(t, metrics.New(timers, metrics.Partitions()), wheelmetrics.New(w))
}

// The list has each metric of the whole, as it is scraped.
func TestTheListHasAllMetrics(t *testing.T) {
	list, err := snippets.Read(docs + "monitoring/metrics.txt")
	require.NoError(t, err)
	want := ""
	for _, family := range everything(t) {
		if strings.HasPrefix(family.GetName(), "epicycle_durable_partition_") {
			continue
		}
		want += fmt.Sprintf("# HELP %s %s\n", family.GetName(), family.GetHelp())
		want += fmt.Sprintf("# TYPE %s %s\n", family.GetName(), strings.ToLower(family.GetType().String()))
	}
	require.True(t, strings.HasPrefix(list, want), "the list has to begin with this:\n%s", want)
}

var metric = regexp.MustCompile(`epicycle_(?:durable|wheel)_[a-z_]+[a-z]`)

// What the pages, the rules and the dashboard name is exported.
func TestNothingElseIsNamed(t *testing.T) {
	exported := make(map[string]bool)
	for _, family := range everything(t) {
		exported[family.GetName()] = true
		if family.GetType() == dto.MetricType_HISTOGRAM {
			for _, part := range []string{"_bucket", "_count", "_sum"} {
				exported[family.GetName()+part] = true
			}
		}
	}
	exported["epicycle_durable_partition"] = true // the beginning of some
	for _, pattern := range []string{"*.md", "monitoring/*"} {
		files, err := filepath.Glob(docs + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			text, err := snippets.Read(file)
			require.NoError(t, err)
			for _, name := range metric.FindAllString(text, -1) {
				require.Contains(t, exported, name, file)
			}
		}
	}
}

// dashboard is what the test reads of dashboard.json.
type dashboard struct {
	Panels []struct {
		ID      int
		Title   string
		Type    string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr, LegendFormat string }
	}
	Templating struct {
		List []struct{ Name, Definition string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	text, err := os.ReadFile(docs + "monitoring/dashboard.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &d))
	return d
}

// Panels lie beside each other, and each but a heading shows something.
func TestDashboard(t *testing.T) {
	taken, ids := make(map[[2]int]string), make(map[int]bool)
	for _, p := range readDashboard(t).Panels {
		require.False(t, ids[p.ID], p.Title)
		ids[p.ID] = true
		require.Equal(t, p.Type == "row", len(p.Targets) == 0, p.Title)
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				require.Empty(t, taken[[2]int{x, y}], "under %s", p.Title)
				require.Less(t, x, 24, p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

// Each metric of the whole is on the dashboard: one that is added is missed here.
func TestTheDashboardShowsAllMetrics(t *testing.T) {
	text, err := snippets.Read(docs + "monitoring/dashboard.json")
	require.NoError(t, err)
	shown := make(map[string]bool)
	for _, name := range metric.FindAllString(text, -1) {
		shown[strings.TrimSuffix(name, "_bucket")] = true
	}
	for _, family := range everything(t) {
		if !strings.HasPrefix(family.GetName(), "epicycle_durable_partition_") {
			require.Contains(t, shown, family.GetName())
		}
	}
}

// promtool runs promtool, or skips the test where it is not installed.
func promtool(t *testing.T, in string, args ...string) {
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	command := exec.Command(path, args...)
	command.Stdin = strings.NewReader(in)
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}

// What the dashboard queries is PromQL.
func TestQueriesOfTheDashboard(t *testing.T) {
	variables := strings.NewReplacer("$__rate_interval", "5m", "$name", ".*", "$wheel", ".*", "$instance", ".*")
	rules := "groups:\n- name: dashboard\n  rules:\n"
	for _, p := range readDashboard(t).Panels {
		for at, target := range p.Targets {
			expr := variables.Replace(target.Expr)
			require.NotContains(t, expr, "$", "a variable that is not known here")
			rules += fmt.Sprintf("  - record: panel:%d:%d\n    expr: %q\n", p.ID, at, expr)
		}
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	require.NoError(t, os.WriteFile(file, []byte(rules), 0o600))
	promtool(t, "", "check", "rules", file)
}

var alert = regexp.MustCompile(`alert: (\w+)`)

// Each alert is on the page and has a test in which it fires.
func TestAlerts(t *testing.T) {
	rules, err := snippets.Read(docs + "monitoring/alerts.yml")
	require.NoError(t, err)
	tests, err := snippets.Read(docs + "monitoring/alerts_test.yml")
	require.NoError(t, err)
	page, err := snippets.Read(docs + "monitoring.md")
	require.NoError(t, err)
	found := alert.FindAllStringSubmatch(rules, -1)
	require.NotEmpty(t, found)
	for _, m := range found {
		require.Contains(t, page, "| `"+m[1]+"` |")
		require.Contains(t, tests, "alertname: "+m[1]+"\n        exp_alerts:\n          - ")
	}
	promtool(t, "", "check", "rules", docs+"monitoring/alerts.yml")
	promtool(t, "", "test", "rules", docs+"monitoring/alerts_test.yml")
}

// Names and texts follow the conventions of Prometheus.
func TestNamesFollowTheConventions(t *testing.T) {
	c := metrics.New(&fixed{Partitions: make([]durable.PartitionStats, 1)}, metrics.Partitions())
	problems, err := testutil.CollectAndLint(c)
	require.NoError(t, err)
	require.Empty(t, problems)
	promtool(t, text(t, c), "check", "metrics")
}

// text returns what is scraped.
func text(t *testing.T, c prometheus.Collector) string {
	var b strings.Builder
	for _, family := range families(t, c) {
		_, err := expfmt.MetricFamilyToText(&b, family)
		require.NoError(t, err)
	}
	return b.String()
}
