package view

import (
	"encoding/json"
	"math/bits"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// snapshot is what is sent; doc.go documents its fields.
type snapshot struct {
	Time      time.Time     `json:"time"`
	Taken     time.Duration `json:"taken_ns"`
	Elapsed   time.Duration `json:"elapsed_ns"`
	Pending   int           `json:"pending"`
	Queued    int           `json:"queued"`
	Running   int           `json:"running"`
	Scheduled uint64        `json:"scheduled"`
	Fired     uint64        `json:"fired"`
	Stopped   uint64        `json:"stopped"`
	Drained   uint64        `json:"drained"`
	Dropped   uint64        `json:"dropped"`
	Moved     uint64        `json:"moved"`
	Cascaded  uint64        `json:"cascaded"`
	Wakeups   uint64        `json:"wakeups"`
	Panics    uint64        `json:"panics"`
	Lateness  lateness      `json:"lateness"`
	Circles   []circle      `json:"circles"`
}

type lateness struct {
	Count   uint64        `json:"count"`
	Mean    time.Duration `json:"mean_ns"`
	P50     time.Duration `json:"p50_ns"`
	P90     time.Duration `json:"p90_ns"`
	P99     time.Duration `json:"p99_ns"`
	P999    time.Duration `json:"p999_ns"`
	Max     time.Duration `json:"max_ns"`
	Buckets []bucket      `json:"buckets"`
}

type bucket struct {
	UpTo  time.Duration `json:"up_to_ns"`
	Count uint64        `json:"count"`
}

type circle struct {
	Width  time.Duration `json:"width_ns"`
	Base   bool          `json:"base"`
	Hand   int           `json:"hand"`
	Timers int           `json:"timers"`
	Slots  []int         `json:"slots"`
}

func take(source Source, start time.Time) snapshot {
	circles := source.Circles()
	st := source.Stats()
	now := time.Now()
	return snapshot{
		Time: now, Taken: now.Sub(start), Elapsed: shown(circles),
		Pending: st.Pending, Queued: st.Queued, Running: st.Running,
		Scheduled: st.Scheduled, Fired: st.Fired, Stopped: st.Stopped,
		Drained: st.Drained, Dropped: st.Dropped, Moved: st.Moved,
		Cascaded: st.Cascaded, Wakeups: st.Wakeups, Panics: st.Panics,
		Lateness: latenessOf(st.Lateness), Circles: circlesOf(circles),
	}
}

// shown is the time that hands show together: each is a digit of it. The finest
// circle may turn after fewer slots than it has; the rest is the next one's.
func shown(circles []hierarchy.CircleStats) time.Duration {
	var sum time.Duration
	for k, c := range circles {
		if next := k + 1; next < len(circles) && circles[next].Width > 0 {
			sum += time.Duration(c.Hand) * c.Width % circles[next].Width
			continue
		}
		sum += time.Duration(c.Hand) * c.Width
	}
	return sum
}

func circlesOf(all []hierarchy.CircleStats) []circle {
	circles := make([]circle, len(all))
	for k, c := range all {
		timers := 0
		for _, n := range c.Slots {
			timers += n
		}
		circles[k] = circle{Width: c.Width, Base: c.Base, Hand: c.Hand, Timers: timers, Slots: append([]int{}, c.Slots...)}
	}
	return circles
}

func latenessOf(h hierarchy.Histogram) lateness {
	return lateness{
		Count: h.Count(), Mean: h.Mean(), Max: h.Max(),
		P50: h.Quantile(0.5), P90: h.Quantile(0.9), P99: h.Quantile(0.99), P999: h.Quantile(0.999),
		Buckets: byPowerOfTwo(h),
	}
}

// byPowerOfTwo puts together the up to eight buckets between two powers of two:
// as many bars as the eye can tell apart. None of them lies across a power.
func byPowerOfTwo(h hierarchy.Histogram) []bucket {
	coarse := []bucket{} // never null in JSON
	for upTo, n := range h.Buckets() {
		bound := time.Duration(1)<<bits.Len64(uint64(upTo)) - 1
		if last := len(coarse) - 1; last >= 0 && coarse[last].UpTo == bound {
			coarse[last].Count += n
			continue
		}
		coarse = append(coarse, bucket{bound, n})
	}
	return coarse
}

// snapshots takes snapshots of a source, and lets those who watch at the same
// time share them.
type snapshots struct {
	source Source
	start  time.Time

	mu    sync.Mutex
	taken time.Time // guarded by mu, as is last
	last  []byte    // never written to again: it may be being sent
}

func newSnapshots(source Source) *snapshots {
	return &snapshots{source: source, start: time.Now()}
}

// notOlder is a snapshot as JSON, taken now unless there is one that is not
// older than age.
func (s *snapshots) notOlder(age time.Duration) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil || time.Since(s.taken) >= age {
		s.last = encode(take(s.source, s.start))
		s.taken = time.Now()
	}
	return s.last
}

func encode(s snapshot) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic("view: " + err.Error()) // integers and one time can't fail
	}
	return text
}
