package peers

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// scheduleReports calls report on workdays at half past six, until the Repeater is
// stopped.
func scheduleReports(w *hierarchy.Wheel, report func()) (*hierarchy.Repeater, error) {
	workdays, err := cron.ParseStandard("30 6 * * MON-FRI")
	if err != nil {
		return nil, err
	}
	return w.Schedule(workdays, report)
}

func Example_cron() {
	m := clock.NewMock()
	m.Set(time.Date(2030, 3, 1, 0, 0, 0, 0, time.UTC))
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()

	report := func() { fmt.Println("report of", m.Now().Format("Mon 2 Jan, 15:04")) }
	job, err := scheduleReports(w, report)
	if err != nil {
		fmt.Println(err)
		return
	}
	m.Add(5 * 24 * time.Hour)
	fmt.Println(job.Stop())
	// Output:
	// report of Fri 1 Mar, 06:30
	// report of Mon 4 Mar, 06:30
	// report of Tue 5 Mar, 06:30
	// true
}
