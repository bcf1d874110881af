package hierarchy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// loop is an event loop: one goroutine does everything, so its timers need no lock.
type loop struct {
	begin  time.Time
	timers hierarchy.Driven[func()]
	events chan func()
}

// after has f called in the loop, after d.
func (l *loop) after(d time.Duration, f func()) hierarchy.Handle {
	return l.timers.Set(f, time.Since(l.begin)+d)
}

// run handles events and timers until there is no timer.
func (l *loop) run() {
	for {
		for f := range l.timers.Expire(time.Since(l.begin)) {
			f()
		}
		due, ok := l.timers.Next()
		if !ok {
			return
		}
		select {
		case event := <-l.events:
			event()
		case <-time.After(due - time.Since(l.begin)):
		}
	}
}

// An event loop sleeps until the next timer is due, unless an event comes first.
func ExampleDriven_eventLoop() {
	l := &loop{begin: time.Now(), events: make(chan func(), 1)}
	timeout := l.after(time.Hour, func() { fmt.Println("no answer") })
	l.after(2*time.Millisecond, func() {
		fmt.Println("asked")
		l.events <- func() { // what a poller would do when the answer comes
			_, pending := l.timers.Remove(timeout)
			fmt.Println("answered in time:", pending)
		}
	})
	l.run()
	// Output:
	// asked
	// answered in time: true
}

// cache is a cache whose entries expire under its own lock.
type cache struct {
	mu      sync.Mutex
	entries map[string]entry
	expiry  hierarchy.Driven[string]
}

type entry struct {
	value string
	timer hierarchy.Handle
}

func (c *cache) set(key, value string, due time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if ok && c.expiry.Move(e.timer, due) {
		c.entries[key] = entry{value, e.timer}
		return
	}
	c.entries[key] = entry{value, c.expiry.Set(key, due)}
}

// expire removes entries that are due, a thousand for each time that it holds the lock.
func (c *cache) expire(now time.Duration) {
	for more := true; more; {
		more = c.expireSome(now)
	}
}

func (c *cache) expireSome(now time.Duration) (more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for key := range c.expiry.Expire(now) {
		delete(c.entries, key)
		if n++; n == 1000 {
			return true
		}
	}
	return false
}

// The entries of a cache expire under its lock, a thousand at a time, so that those who wait
// for the lock get it in between.
func ExampleDriven_cache() {
	c := &cache{entries: map[string]entry{}}
	for i := range 5000 {
		c.set(fmt.Sprint("key ", i), "value", time.Duration(i)*time.Second)
	}
	c.set("key 7", "new value", 2*time.Hour)
	c.expire(time.Hour)
	fmt.Println(len(c.entries), "left, among them", c.entries["key 7"].value)
	// Output: 1400 left, among them new value
}

// saved is a timer as it is written to disk.
type saved struct {
	Job string
	Due time.Duration // since the Unix epoch, so that it means the same to the next process
}

func save(w io.Writer, timers *hierarchy.Driven[string]) error {
	out := json.NewEncoder(w)
	for job, due := range timers.All() {
		if err := out.Encode(saved{job, due}); err != nil {
			return err
		}
	}
	return nil
}

func load(r io.Reader, timers *hierarchy.Driven[string]) error {
	in := json.NewDecoder(r)
	for in.More() {
		var s saved
		if err := in.Decode(&s); err != nil {
			return err
		}
		timers.Set(s.Job, s.Due)
	}
	return nil
}

// A store writes what is pending to disk when it stops, and sets it again when it starts.
func ExampleDriven_store() {
	dir, _ := os.MkdirTemp("", "timers")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "timers.json")
	now := time.Duration(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())

	var before hierarchy.Driven[string]
	before.Set("send a reminder", now+time.Hour)
	before.Set("renew the lease", now+time.Minute)
	file, _ := os.Create(path)
	fmt.Println("saved:", save(file, &before) == nil && file.Close() == nil)

	var after hierarchy.Driven[string]
	file, _ = os.Open(path)
	fmt.Println("loaded:", load(file, &after) == nil && file.Close() == nil)
	for job, due := range after.Expire(now + 2*time.Hour) {
		fmt.Println(job, "at", time.Unix(0, int64(due)).UTC().Format(time.TimeOnly))
	}
	// Output:
	// saved: true
	// loaded: true
	// renew the lease at 00:01:00
	// send a reminder at 01:00:00
}

func ExampleDriven() {
	var d hierarchy.Driven[string]
	d.Set("tea", 3*time.Minute)
	eggs := d.Set("eggs", 5*time.Minute)
	d.Move(eggs, 6*time.Minute)
	due, _ := d.Next()
	fmt.Println("next at", due)
	for what, due := range d.Expire(10 * time.Minute) {
		fmt.Println(what, "at", due)
	}
	// Output:
	// next at 3m0s
	// tea at 3m0s
	// eggs at 6m0s
}
