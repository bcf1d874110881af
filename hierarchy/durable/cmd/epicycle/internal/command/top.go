package command

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

func topCommand(std streams) *cobra.Command {
	var every time.Duration
	var count int
	c := &cobra.Command{Use: "top", Short: "Show figures, each second", Args: cobra.NoArgs}
	c.Flags().DurationVar(&every, "every", time.Second, "between two lines")
	c.Flags().IntVar(&count, "count", 0, "end after so many lines; 0: don't end")
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, _ []string) error {
		if every < 100*time.Millisecond {
			return usageError("-every %v is less than 100ms", every)
		}
		var before *reading
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for n := 0; ; n++ {
			now, err := r.read(c)
			if err != nil {
				return err
			}
			if before != nil {
				if err := r.line(n-1, now, before); err != nil {
					return err
				}
			}
			if before = now; count > 0 && n == count {
				return nil
			}
			select {
			case <-ticker.C:
			case <-c.Context().Done():
				return nil
			}
		}
	})
}

// reading is the metrics at one moment.
type reading struct {
	at       time.Time
	families map[string]*dto.MetricFamily
}

func (r *remote) read(c *cobra.Command) (*reading, error) {
	resp, err := r.client.Open(c.Context(), http.MethodGet, "/metrics", nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	families, err := parseMetrics(resp.Body)
	return &reading{time.Now(), families}, err
}

func parseMetrics(r io.Reader) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(r)
}

// value returns the sum of a metric.
func (m *reading) value(name string) (sum float64) {
	for _, one := range m.families["epicycle_"+name].GetMetric() {
		sum += one.GetGauge().GetValue() + one.GetCounter().GetValue()
	}
	return sum
}

// quantile returns an upper bound of a quantile of the observations between two readings.
func (m *reading) quantile(name string, q float64, before *reading) time.Duration {
	now, old := m.histogram(name), before.histogram(name)
	n := float64(now.GetSampleCount() - old.GetSampleCount())
	for i, b := range now.GetBucket() {
		count := b.GetCumulativeCount()
		if i < len(old.GetBucket()) {
			count -= old.GetBucket()[i].GetCumulativeCount()
		}
		if n > 0 && float64(count) >= q*n && !math.IsInf(b.GetUpperBound(), 1) {
			return time.Duration(b.GetUpperBound() * float64(time.Second))
		}
	}
	return 0
}

func (m *reading) histogram(name string) *dto.Histogram {
	for _, one := range m.families["epicycle_"+name].GetMetric() {
		return one.GetHistogram()
	}
	return nil
}

// figures is what a line of top shows.
type figures struct {
	Pending  float64 `json:"pending"`
	Dead     float64 `json:"dead"`
	Running  float64 `json:"running"`
	Queued   float64 `json:"queued"`
	Set      float64 `json:"set_per_second"`
	Removed  float64 `json:"removed_per_second"`
	Fired    float64 `json:"fired_per_second"`
	Failed   float64 `json:"failed_per_second"`
	Late     string  `json:"late_p99"`
	LogBytes float64 `json:"log_bytes"`
}

func (r *remote) line(n int, now, before *reading) error {
	rate := func(name string) float64 {
		return math.Round((now.value(name) - before.value(name)) / now.at.Sub(before.at).Seconds())
	}
	f := figures{
		Pending: now.value("durable_timers_pending"), Dead: now.value("durable_timers_dead"),
		Running: now.value("durable_attempts_running"), Queued: now.value("queue_waiting"),
		Set: rate("durable_timers_set_total"), Removed: rate("durable_timers_removed_total"),
		Fired: rate("durable_attempts_total"), Failed: rate("durable_attempts_failed_total"),
		LogBytes: now.value("durable_log_size_bytes"),
	}
	if late := now.quantile("durable_lateness_seconds", .99, before); late > 0 {
		f.Late = "≤ " + terminal.Span(late)
	}
	return r.print(&f, func() error {
		if n%20 == 0 {
			fmt.Fprintf(r.std.out, "%12s %8s %8s %8s %8s %8s %8s %8s %10s %10s\n",
				"pending", "dead", "running", "queued", "set/s", "rm/s", "fired/s", "failed/s", "late p99", "log")
		}
		_, err := fmt.Fprintf(r.std.out, "%12s %8s %8s %8s %8s %8s %8s %8s %10s %10s\n",
			number(f.Pending), number(f.Dead), number(f.Running), number(f.Queued), number(f.Set), number(f.Removed), number(f.Fired), number(f.Failed),
			f.Late, terminal.Amount(int64(f.LogBytes)))
		return err
	})
}

func number(f float64) string { return terminal.Count(int64(f)) }
