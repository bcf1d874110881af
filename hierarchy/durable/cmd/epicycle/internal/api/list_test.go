package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// fill sets timers with values of some bytes.
func fill(t *testing.T, a *API, timers, bytes int) {
	t.Helper()
	var b durable.Batch[string, task.Task]
	for i := range timers {
		one := task.Task{Value: []byte(`"` + strings.Repeat("v", bytes-2) + `"`), To: task.Target{Kind: task.Queue, Name: "q"}, Timeout: time.Second}
		b.Set(fmt.Sprintf("%04d", i), one, time.Hour)
		if b.Len() == 100 || i == timers-1 {
			require.NoError(t, a.Service.Batch(t.Context(), &b))
			b.Reset()
		}
	}
}

// A page ends when the time is over, with the next one, and goes on from there.
func TestPageEndsInTime(t *testing.T) {
	for _, c := range []struct {
		until    time.Duration
		timers   int
		more     bool
		want     string
		complete bool
	}{
		{time.Hour, 2, true, `["a","b"] b`, true}, {time.Hour, 2, false, `["a","b"] `, true}, {time.Hour, 1, true, `["a"] a`, false},
		{-1, 1, true, `["a"] a`, true}, {-1, 0, false, `[] `, false},
	} {
		var b bytes.Buffer
		out := bufio.NewWriter(&b)
		p := pageWriter{out: out, until: time.Now().Add(c.until), most: 2}
		for i := range c.timers {
			require.False(t, p.full())
			require.NoError(t, p.timer(Timer{Key: string(rune('a' + i)), Value: json.RawMessage("1")}))
		}
		require.Equal(t, c.complete, p.full())
		require.NoError(t, p.end(c.more))
		require.NoError(t, out.Flush())
		var page Page
		require.NoError(t, decode(b.Bytes(), &page), b.String())
		keys := []string{}
		for _, one := range page.Timers {
			keys = append(keys, one.Key)
		}
		text, _ := json.Marshal(keys)
		require.Equal(t, c.want, string(text)+" "+page.Next)
	}
}

// A page of timers that fail ends in time without any, and goes on after those that were looked at.
func TestPageOfFailingEndsInTime(t *testing.T) {
	a := newAPI(t)
	fill(t, a, 3, 10)
	var all []string
	for after, pages := "", 0; ; pages++ {
		require.Less(t, pages, 5)
		w := httptest.NewRecorder()
		ctx := calling(t, a, w)
		callOf(ctx).limit = -time.Hour // its part of the time is over
		a.listSome(ctx, w, durable.Query{Limit: 101, After: after}, sifts["failing"])
		var page Page
		require.NoError(t, decode(w.Body.Bytes(), &page), w.Body)
		require.Empty(t, page.Timers)
		if after = page.Next; after == "" {
			break
		}
		all = append(all, after)
	}
	require.Equal(t, []string{"0000", "0001", "0002"}, all)
}

// Those who read slowly hold what is on its way to them, and not their whole pages.
func TestSlowReadersOfLists(t *testing.T) {
	const readers, timers, size = 30, 200, task.MaxValue
	a := newAPI(t)
	fill(t, a, timers, size)
	allocated := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := allocated()
	var all sync.WaitGroup
	slow := make([]*slowReader, readers)
	for i := range slow {
		slow[i] = &slowReader{ResponseRecorder: httptest.NewRecorder(), waits: make(chan bool), goOn: make(chan bool)}
		all.Go(func() {
			defer func() { _ = recover() }() // when the client goes away
			a.listTo(calling(t, a, slow[i]), slow[i], durable.Query{Limit: timers + 1})
		})
	}
	for _, w := range slow {
		<-w.waits
	}
	more := allocated() - before
	for i, w := range slow {
		w.gone = i > 0
		close(w.goOn)
	}
	all.Wait()
	t.Logf("%d bytes for each", more/readers)
	require.Less(t, more, int64(readers)<<20)
	var page Page
	require.NoError(t, decode(slow[0].Body.Bytes(), &page))
	require.Equal(t, page.Next == "", len(page.Timers) == timers)
	require.Zero(t, a.lists.all)
}

// slowReader is a client that waits for the first part of the answer to arrive, and then goes away or reads on.
type slowReader struct {
	*httptest.ResponseRecorder
	waits, goOn chan bool
	once        sync.Once
	gone        bool
}

func (w *slowReader) Write(b []byte) (int, error) {
	w.once.Do(func() { w.waits <- true })
	if <-w.goOn; w.gone {
		return 0, io.ErrClosedPipe
	}
	return w.ResponseRecorder.Write(b)
}

func (w *slowReader) SetWriteDeadline(time.Time) error { return nil }

// So many lists and exports are answered at once, and no more, and so many of one bearer.
func TestManyStreams(t *testing.T) {
	a := newAPI(t)
	for path, s := range map[string]*streams{"/v1/timers": &a.lists, "/v1/export": &a.exports, "/v1/export?prefix=x": &a.exports} {
		get := func() *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("GET", path, nil)
			r.Host = "localhost"
			a.ServeHTTP(&failing{w, 1 << 20}, r)
			return w
		}
		for range s.each {
			require.True(t, s.begin(access.Everybody.Name))
		}
		w := get()
		require.Equal(t, http.StatusTooManyRequests, w.Code)
		require.NotEmpty(t, w.Header().Get("Retry-After"))
		for s.all < s.most {
			require.True(t, s.begin("other"))
		}
		require.False(t, s.begin("third"))
		s.end("other")
		require.Equal(t, http.StatusTooManyRequests, get().Code)
		s.end(access.Everybody.Name)
		require.Equal(t, http.StatusOK, get().Code)
		require.Equal(t, s.most-2, s.all)
		for s.of["other"] > 0 {
			s.end("other")
		}
		for s.of[access.Everybody.Name] > 0 {
			s.end(access.Everybody.Name)
		}
		require.Empty(t, s.of)
	}
}

// A list that fails on its way does not end like one that is whole, and one that fails at first is a problem.
func TestListIsCutShort(t *testing.T) {
	a := newAPI(t)
	fill(t, a, 1000, 1000)
	w := &failing{httptest.NewRecorder(), 2}
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { a.listTo(calling(t, a, w), w, durable.Query{Limit: 1001}) })
	require.Zero(t, a.lists.all)
	w = &failing{httptest.NewRecorder(), 2}
	ctx, cancel := context.WithCancel(calling(t, a, w))
	cancel()
	a.listTo(ctx, w, durable.Query{Limit: 1001})
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
}

// Removing many timers ends in time, at the latest after one batch, and says whether there are more.
func TestRemoveAllEndsInTime(t *testing.T) {
	a := newAPI(t)
	fill(t, a, 2*removeSome+500, 10)
	for _, want := range []Removed{{removeSome, true}, {removeSome, true}, {500, false}, {0, false}} {
		got, err := a.removePrefix(t.Context(), "", time.Now())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	fill(t, a, removeSome, 10)
	got, err := a.removePrefix(t.Context(), "0", time.Now())
	require.NoError(t, err)
	require.Equal(t, Removed{removeSome, false}, got, "there is no other timer")
	fill(t, a, 2*removeSome, 10)
	got, err = a.removePrefix(t.Context(), "1", time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, Removed{removeSome, false}, got)
}

// What is done together fits in a message of the servers, however long the keys and targets are.
func TestSizeOfBatches(t *testing.T) {
	a := newAPI(t)
	key := func(i int) string { return fmt.Sprintf("%0*d", task.MaxKey, i) }
	to := &Target{Webhook: "https://example.com/" + strings.Repeat("x", 1900)}
	results := make([]Result, 1000)
	c := chunk{api: a, ctx: t.Context(), who: &access.Everybody, results: results}
	for i := range results {
		c.add(i, &Operation{Op: "set", Key: key(i), Setting: Setting{When: When{In: "1h"}, To: to}})
		require.LessOrEqual(t, c.batch.Len()*(task.MaxKey+len(to.Webhook)+64), someBytes)
	}
	c.flush()
	for _, r := range results {
		require.Equal(t, Result{OK: true}, r)
	}
	for left := len(results); left > 0; {
		got, err := a.removePrefix(t.Context(), "", time.Now())
		require.NoError(t, err)
		require.LessOrEqual(t, got.Removed*(task.MaxKey+64), someBytes)
		left -= got.Removed
		require.Equal(t, left > 0, got.More)
	}
}
