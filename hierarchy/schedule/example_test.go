package schedule_test

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// 02:30 does not exist in the night in which summer time begins: the run is at 03:00, at the moment of
// the change.
func ExampleParse() {
	s, err := schedule.Parse("CRON_TZ=Europe/Berlin 30 2 * * *")
	if err != nil {
		panic(err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	run := time.Date(2024, time.March, 29, 12, 0, 0, 0, berlin)
	for range 3 {
		run = s.Next(run)
		fmt.Println(run)
	}
	// Output:
	// 2024-03-30 02:30:00 +0100 CET
	// 2024-03-31 03:00:00 +0200 CEST
	// 2024-04-01 02:30:00 +0200 CEST
}

// An error says which field is wrong, where, and why.
func ExampleParse_error() {
	_, err := schedule.Parse("30 24 * * *")
	fmt.Println(err)
	// Output:
	// schedule: "30 24 * * *": hour, column 4: 24 is not in the range 0-23
}

func ExampleSchedule_OnMissed() {
	s, err := schedule.Parse("@daily")
	if err != nil {
		panic(err)
	}
	fmt.Println(s.OnMissed(schedule.MissedAll))
	// Output:
	// MISSED=all @daily
}

// On a wheel, and in a test on a mock clock that passes a night in no time. By default, a run that was missed is made
// up for, once.
func ExampleMustParse() {
	m := clock.NewMock() // in production, leave Clock out
	m.Set(time.Date(2030, 3, 30, 12, 0, 0, 0, time.UTC))
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	if err != nil {
		panic(err)
	}
	defer w.Stop()

	nightly := schedule.MustParse("CRON_TZ=Europe/Berlin 30 2 * * *")
	_, err = w.Schedule(nightly, func() { fmt.Println("backup at", m.Now().Format("Mon 15:04 MST")) })
	if err != nil {
		panic(err)
	}
	m.Add(36 * time.Hour)  // clocks in Berlin go forward at 01:00 UTC on Sunday
	m.Jump(50 * time.Hour) // the machine is suspended for two nights
	m.Add(24 * time.Hour)
	// Output:
	// backup at Sun 01:00 UTC
	// backup at Wed 02:00 UTC
	// backup at Thu 00:30 UTC
}

// Each customer's report is at a time of its own between two and three, and always at the same one.
func ExampleSpread() {
	nightly := schedule.MustParse("0 2 * * *")
	for _, customer := range []string{"customer-17", "customer-18"} {
		fmt.Println(schedule.Spread(nightly, time.Hour, customer))
	}
	// Output:
	// SPREAD=12m3s 0 2 * * *
	// SPREAD=44m27s 0 2 * * *
}
