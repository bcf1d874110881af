package recipes

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// pace calls send at even intervals, perSecond times a second, until the Repeater is
// stopped. If the process gets no processor for a while, the missed calls are skipped, so
// the receiver never gets a burst. The wheel's Stats().Skipped counts them. perSecond must
// be one or more.
func pace(c clock.Clock, perSecond int, send func()) (*hierarchy.Wheel, *hierarchy.Repeater, error) {
	period := time.Second / time.Duration(perSecond)
	w, err := hierarchy.New(hierarchy.Config{
		Clock:     c,
		Precision: period,           // wakes once per call
		Executor:  hierarchy.Inline, // send is short and does not block
	})
	if err != nil {
		return nil, nil, err
	}
	r, err := w.Every(period, send)
	if err != nil {
		w.Stop()
		return nil, nil, err
	}
	return w, r, nil
}

func Example_pacing() {
	m := clock.NewMock()
	sent := 0
	w, r, err := pace(m, 5000, func() { sent++ })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Stop()
	m.Add(time.Second)
	fmt.Println(sent, "in a second")
	r.Stop()
	m.Add(time.Second)
	fmt.Println(sent, "in all")
	// Output:
	// 5000 in a second
	// 5000 in all
}
