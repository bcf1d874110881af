package cron_test

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/cron"
)

// A test of what a program does at night takes no time.
func ExampleWithClock() {
	m := clock.NewMock() // in production, leave WithClock out
	m.Set(time.Date(2030, 3, 1, 0, 0, 0, 0, time.UTC))
	c := cron.New(cron.WithClock(m), cron.WithLocation(time.UTC))
	_, err := c.AddFunc("30 6 * * MON-FRI", func() { fmt.Println("report of", m.Now().Format("Mon 2 Jan, 15:04")) })
	if err != nil {
		panic(err)
	}
	c.Start()
	m.Add(5 * 24 * time.Hour)
	<-c.Stop().Done()
	// Output:
	// report of Fri 1 Mar, 06:30
	// report of Mon 4 Mar, 06:30
	// report of Tue 5 Mar, 06:30
}

// In the night in which clocks go forward, there is no 02:30. With Daylight the job runs at 03:00, at the moment of the
// change.
func ExampleNewParser_daylight() {
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor | cron.Daylight)
	s, err := parser.Parse("CRON_TZ=America/Los_Angeles 30 2 * * *")
	if err != nil {
		panic(err)
	}
	losAngeles, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		panic(err)
	}
	run := time.Date(2025, time.March, 8, 12, 0, 0, 0, losAngeles)
	for range 2 {
		run = s.Next(run)
		fmt.Println(run)
	}
	// Output:
	// 2025-03-09 03:00:00 -0700 PDT
	// 2025-03-10 02:30:00 -0700 PDT
}
