package robfig

import (
	"context"
	"runtime"
	"strconv"
	"testing"
	"time"

	robfig "github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"

	epicycle "github.com/epicycle-go/epicycle/compat/cron"
)

// crons is a Cron of either package.
type crons interface {
	add(s times, f func()) (id int)
	remove(id int)
	known(id int) bool
	Start()
	Stop() context.Context
}

// times is a Schedule of either package.
type times interface{ Next(time.Time) time.Time }

type robfigs struct{ *robfig.Cron }

func (c robfigs) add(s times, f func()) int { return int(c.Schedule(s, robfig.FuncJob(f))) }
func (c robfigs) remove(id int)             { c.Remove(robfig.EntryID(id)) }
func (c robfigs) known(id int) bool         { return c.Entry(robfig.EntryID(id)).Valid() }

type epicycles struct{ *epicycle.Cron }

func (c epicycles) add(s times, f func()) int { return int(c.Schedule(s, epicycle.FuncJob(f))) }
func (c epicycles) remove(id int)             { c.Remove(epicycle.EntryID(id)) }
func (c epicycles) known(id int) bool         { return c.Entry(epicycle.EntryID(id)).Valid() }

var implementations = []struct {
	name  string
	make  func() crons
	parse func(string) (times, error)
}{
	{"robfig", func() crons { return robfigs{robfig.New()} },
		func(text string) (times, error) { return robfig.ParseStandard(text) }},
	{"epicycle", func() crons { return epicycles{epicycle.New()} },
		func(text string) (times, error) { return epicycle.ParseStandard(text) }},
}

// filled returns a Cron that runs, with n entries whose times are months ahead and spread over days.
func filled(b *testing.B, i int, n int) (crons, times) {
	c := implementations[i].make()
	var far []times
	month := (time.Now().Month()+5)%12 + 1
	for day := range 28 {
		s, err := implementations[i].parse("30 2 " + strconv.Itoa(day+1) + " " + strconv.Itoa(int(month)) + " *")
		require.NoError(b, err)
		far = append(far, s)
	}
	for k := range n {
		c.add(far[k%len(far)], func() {})
	}
	c.Start()
	c.known(0) // when it answers, it has started
	runtime.GC()
	return c, far[14]
}

// each runs a benchmark for both packages, with few and with many entries.
func each(b *testing.B, f func(b *testing.B, c crons, s times)) {
	for i, impl := range implementations {
		for _, n := range []int{100, 10_000, 1_000_000} {
			b.Run("impl="+impl.name+"/n="+strconv.Itoa(n), func(b *testing.B) {
				c, s := filled(b, i, n)
				f(b, c, s)
				b.StopTimer()
				<-c.Stop().Done()
			})
		}
	}
}

// n entries are added, whose schedules others have, too.
func BenchmarkBytes(b *testing.B) {
	for i, impl := range implementations {
		const n = 1_000_000
		b.Run("impl="+impl.name+"/n="+strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				before := heap()
				c, _ := filled(b, i, n)
				b.ReportMetric(float64(heap()-before)/n, "B/entry")
				<-c.Stop().Done()
			}
		})
	}
}

// heap returns the bytes that are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// An entry is added to n others.
func BenchmarkAdd(b *testing.B) {
	each(b, func(b *testing.B, c crons, s times) {
		b.ReportAllocs()
		for b.Loop() {
			c.add(s, func() {})
		}
		c.known(0)
	})
}

// An entry is added to n others, and removed.
func BenchmarkAddRemove(b *testing.B) {
	each(b, func(b *testing.B, c crons, s times) {
		b.ReportAllocs()
		for b.Loop() {
			c.remove(c.add(s, func() {}))
		}
		c.known(0)
	})
}

// An entry is looked up among n.
func BenchmarkEntry(b *testing.B) {
	each(b, func(b *testing.B, c crons, s times) {
		id := c.add(s, func() {})
		for b.Loop() {
			c.known(id)
		}
	})
}

// atOnce is a schedule with a run as soon as possible after each run.
type atOnce struct{}

func (atOnce) Next(t time.Time) time.Time { return t.Add(1) }

// One entry of n runs again and again.
func BenchmarkRun(b *testing.B) {
	each(b, func(b *testing.B, c crons, _ times) {
		ran := make(chan bool)
		done := make(chan bool)
		c.add(atOnce{}, func() {
			select {
			case ran <- true:
			case <-done:
			}
		})
		for b.Loop() {
			<-ran
		}
		close(done)
	})
}

// The next time of a schedule is calculated, as after each run.
func BenchmarkNext(b *testing.B) {
	for name, text := range map[string]string{
		"often": "CRON_TZ=Europe/Berlin */5 * * * *", "nightly": "CRON_TZ=Europe/Berlin 30 2 * * *", "yearly": "CRON_TZ=Europe/Berlin 30 2 24 12 *",
	} {
		for _, impl := range implementations {
			b.Run("text="+name+"/impl="+impl.name, func(b *testing.B) {
				s, err := impl.parse(text)
				require.NoError(b, err)
				now := time.Date(2030, 1, 15, 12, 0, 0, 0, time.UTC)
				b.ReportAllocs()
				for b.Loop() {
					s.Next(now)
				}
			})
		}
	}
}
