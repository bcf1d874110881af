package recipes

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

var workdays = schedule.MustParse("CRON_TZ=Europe/Berlin 30 6 * * mon-fri")

// scheduleReports calls report on workdays at half past six, until the Repeater is
// stopped.
func scheduleReports(w *hierarchy.Wheel, report func()) (*hierarchy.Repeater, error) {
	return w.Schedule(workdays.OnMissed(schedule.MissedSkip), report)
}

func Example_calendar() {
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
	m.Add(4 * 24 * time.Hour)
	m.Jump(24 * time.Hour) // the machine is suspended on a Tuesday, and wakes up at midnight
	m.Add(24 * time.Hour)
	fmt.Println(job.Stop())
	// Output:
	// report of Fri 1 Mar, 05:30
	// report of Mon 4 Mar, 05:30
	// report of Wed 6 Mar, 05:30
	// true
}
