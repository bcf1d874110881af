package recipes

import (
	"fmt"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// debouncer calls its function for a key when nothing has happened to the key for a while,
// and at the latest after longest.
type debouncer struct {
	clock          clock.Clock
	quiet, longest time.Duration
	mu             sync.Mutex                          // one event at a time
	since          *hierarchy.Keyed[string, time.Time] // when the first of several events was
}

func newDebouncer(c clock.Clock, quiet, longest time.Duration, f func(key string)) (*debouncer, error) {
	w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: c}, func(key string, _ time.Time) { f(key) })
	if err != nil {
		return nil, err
	}
	return &debouncer{clock: c, quiet: quiet, longest: longest, since: w}, nil
}

// happened notes an event.
func (d *debouncer) happened(key string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.clock.Now()
	if since, ok := d.since.Value(key); ok {
		wait := min(d.quiet, d.longest-now.Sub(since))
		if moved, err := d.since.Move(key, wait); moved || err != nil {
			return err
		} // else it has just fired
	}
	return d.since.Set(key, now, min(d.quiet, d.longest)) // this event is the first
}

func Example_debounce() {
	m := clock.NewMock()
	d, err := newDebouncer(m, time.Second, 3*time.Second, func(key string) { fmt.Println("save", key, "at", m.Elapsed()) })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.since.Stop()
	for range 5 {
		_ = d.happened("busy.txt")
		m.Add(800 * time.Millisecond)
	}
	_ = d.happened("quiet.txt")
	m.Add(time.Minute)
	// Output:
	// save busy.txt at 3s
	// save busy.txt at 4.2s
	// save quiet.txt at 5s
}

// window remembers keys for some time.
type window struct {
	keys *hierarchy.Keyed[string, struct{}]
	span time.Duration
}

func newWindow(c clock.Clock, span time.Duration) (*window, error) {
	keys, err := hierarchy.NewKeyed(hierarchy.Config{Clock: c}, func(string, struct{}) {})
	if err != nil {
		return nil, err
	}
	return &window{keys, span}, nil
}

// first reports whether key comes for the first time in the window. Of several concurrent calls,
// one is true. To throttle, do something only if it is true. To drop duplicates, pass the ID
// of each message.
func (w *window) first(key string) (bool, error) {
	return w.keys.SetIfAbsent(key, struct{}{}, w.span)
}

func Example_throttle() {
	m := clock.NewMock()
	alerts, err := newWindow(m, time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer alerts.keys.Stop()
	for range 200 { // an alert every second
		if first, _ := alerts.first("disk full"); first {
			fmt.Println("send at", m.Elapsed())
		}
		m.Add(time.Second)
	}
	// Output:
	// send at 0s
	// send at 1m0s
	// send at 2m0s
	// send at 3m0s
}

// workQueue hands out keys when they are due. A key that is added again before that comes
// once, at the sooner of its times.
type workQueue struct {
	waiting *hierarchy.Keyed[string, struct{}]
}

func newWorkQueue(c clock.Clock, work func(key string)) (*workQueue, error) {
	waiting, err := hierarchy.NewKeyed(hierarchy.Config{Clock: c}, func(key string, _ struct{}) { work(key) })
	if err != nil {
		return nil, err
	}
	return &workQueue{waiting}, nil
}

func (q *workQueue) addAfter(key string, d time.Duration) error {
	_, err := q.waiting.SetSooner(key, struct{}{}, d)
	return err
}

func Example_workQueue() {
	m := clock.NewMock()
	q, err := newWorkQueue(m, func(key string) { fmt.Println(key, "at", m.Elapsed()) })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.waiting.Stop()
	_ = q.addAfter("pod-1", time.Minute)
	_ = q.addAfter("pod-2", time.Minute)
	_ = q.addAfter("pod-1", time.Second) // sooner
	_ = q.addAfter("pod-2", time.Hour)   // not sooner
	m.Add(2 * time.Hour)
	// Output:
	// pod-1 at 1s
	// pod-2 at 1m0s
}
