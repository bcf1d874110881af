package command

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A timer is set, shown, moved and removed.
func TestLife(t *testing.T) {
	s := serve(t)
	before := time.Now()
	set := s.do("PUT", "/v1/timers/order-17", `{"in":"30m","value":{"id":17,"text":"<ü>"},"to":{"queue":"mails"},"timeout":"1m30s"}`).json(200)
	due, err := time.Parse(time.RFC3339Nano, set["due"].(string))
	require.NoError(t, err)
	require.WithinRange(t, due, before.Add(30*time.Minute), time.Now().Add(30*time.Minute))
	require.Len(t, set["id"], 32)
	delete(set, "due")
	id := set["id"]
	delete(set, "id")
	require.Equal(t, map[string]any{
		"key": "order-17", "value": map[string]any{"id": 17.0, "text": "<ü>"}, "to": map[string]any{"queue": "mails"},
		"timeout": "1m30s", "attempt": 0.0, "state": "waiting",
	}, set)
	got := s.do("GET", "/v1/timers/order-17", "").json(200)
	require.Equal(t, id, got["id"])
	require.Equal(t, due.Format(time.RFC3339Nano), got["due"])

	moved := s.do("PATCH", "/v1/timers/order-17", `{"at":"2040-01-02T03:04:05.678Z"}`).json(200)
	at, err := time.Parse(time.RFC3339Nano, moved["due"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Date(2040, 1, 2, 3, 4, 5, 678e6, time.UTC), at, time.Second)
	require.NotEqual(t, id, moved["id"])
	removed := s.do("DELETE", "/v1/timers/order-17", "").json(200)
	require.Equal(t, moved["id"], removed["id"])
	s.do("GET", "/v1/timers/order-17", "").problem(404)
	s.do("DELETE", "/v1/timers/order-17", "").problem(404)
	s.do("PATCH", "/v1/timers/order-17", `{"in":"1s"}`).problem(404)
	s.do("POST", "/v1/timers/order-17/revive", "").problem(404)

	exact := s.do("PUT", "/v1/timers/at", `{"at":"2040-01-02T03:04:05.678+01:00","value":1,"to":{"queue":"mails"}}`).json(200)
	require.Equal(t, "2040-01-02T02:04:05.678Z", exact["due"])
	require.Equal(t, "30s", exact["timeout"])
}

// Keys are any UTF-8, and values any JSON, as they are.
func TestKeysAndValues(t *testing.T) {
	s := serve(t)
	for _, key := range []string{"a/b", "a//b/", "ä ö", "%2F", "?x=1#y", ".", "..", "../x", "\n\x00", "😀", strings.Repeat("k", 1024), "revive", "a/revive"} {
		path := "/v1/timers/" + strings.NewReplacer("+", "%20", ".", "%2E").Replace(url.QueryEscape(key))
		require.Equal(t, key, s.do("PUT", path, `{"in":"1h","to":{"queue":"q"}}`).json(200)["key"])
		got := s.do("GET", path, "").json(200)
		require.Equal(t, key, got["key"])
		require.Nil(t, got["value"])
		s.do("DELETE", path, "").json(200)
	}
	for _, value := range []string{`null`, `0`, `-1.5e300`, `12345678901234567890`, `""`, `"\u0000"`, `[]`, `{"a":{"b":[1,2,null]}}`, `"` + strings.Repeat("v", 60<<10-2) + `"`} {
		body := s.do("PUT", "/v1/timers/v", `{"in":"1h","to":{"queue":"q"},"value":`+value+`}`)
		require.Equal(t, 200, body.status, body.body)
		require.Contains(t, body.body, `"value":`+value+`,`)
	}
}

// All that can't be right is refused, with what is wrong, and nothing is set.
func TestBadRequests(t *testing.T) {
	s := serve(t)
	long := strings.Repeat("x", 1025)
	for _, c := range []struct {
		method, path, body string
		status             int
		detail             string
	}{
		{"PUT", "/v1/timers/", `{"in":"1s","to":{"queue":"q"}}`, 400, "the key is empty"},
		{"PUT", "/v1/timers/" + long, `{"in":"1s","to":{"queue":"q"}}`, 400, ""},
		{"PUT", "/v1/timers/%FF", `{"in":"1s","to":{"queue":"q"}}`, 400, "UTF-8"},
		{"PUT", "/v1/timers/k", ``, 400, ""},
		{"PUT", "/v1/timers/k", `{`, 400, ""},
		{"PUT", "/v1/timers/k", `[]`, 400, ""},
		{"PUT", "/v1/timers/k", `{} {}`, 400, ""},
		{"PUT", "/v1/timers/k", "{\"in\":\"1s\",\"to\":{\"queue\":\"q\"},\"value\":\"\xff\"}", 400, "UTF-8"},
		{"PUT", "/v1/timers/k", `{"to":{"queue":"q"}}`, 400, "exactly one of in, at, schedule and debounce"},
		{"PUT", "/v1/timers/k", `{"in":"1s","at":"2030-01-31T12:00:00Z","to":{"queue":"q"}}`, 400, "exactly one"},
		{"PUT", "/v1/timers/k", `{"in":1,"to":{"queue":"q"}}`, 400, ""},
		{"PUT", "/v1/timers/k", `{"in":"1s","debounce":{"quiet":"1s","longest":"1m"},"to":{"queue":"q"}}`, 400, "exactly one"},
		{"PUT", "/v1/timers/k", `{"in":"1s","until":"2030-01-31T12:00:00Z","to":{"queue":"q"}}`, 400, "go with a schedule"},
		{"PUT", "/v1/timers/k", `{"schedule":"@every 1m","spread":"10s","to":{"queue":"q"}}`, 400, "@every"},
		{"PUT", "/v1/timers/k", `{"schedule":"@daily","spread":"soon","to":{"queue":"q"}}`, 400, "spread: "},
		{"PUT", "/v1/timers/k", `{"schedule":"@daily","spread":"9000h","to":{"queue":"q"}}`, 400, "spread: "},
		{"PUT", "/v1/timers/k", `{"schedule":"@daily","from":"soon","to":{"queue":"q"}}`, 400, "from: "},
		{"PUT", "/v1/timers/k", `{"schedule":"@daily","until":"2030","to":{"queue":"q"}}`, 400, "until: "},
		{"PUT", "/v1/timers/k", `{"schedule":"@daily","until":"2001-01-31T12:00:00Z","to":{"queue":"q"}}`, 400, "no run"},
		{"PUT", "/v1/timers/k", `{"schedule":"@daily","from":"2040-01-31T12:00:00Z","until":"2039-01-31T12:00:00Z","to":{"queue":"q"}}`, 400, "before from"},
		{"PUT", "/v1/timers/k", `{"debounce":{},"to":{"queue":"q"}}`, 400, "debounce: "},
		{"PUT", "/v1/timers/k", `{"debounce":{"quiet":"1s"},"to":{"queue":"q"}}`, 400, "debounce: "},
		{"PUT", "/v1/timers/k", `{"debounce":{"longest":"1s"},"to":{"queue":"q"}}`, 400, "debounce: "},
		{"PUT", "/v1/timers/k", `{"debounce":{"quiet":"1s","longest":"0s"},"to":{"queue":"q"}}`, 400, "debounce: "},
		{"PUT", "/v1/timers/k", `{"debounce":{"quiet":"-1s","longest":"1s"},"to":{"queue":"q"}}`, 400, "debounce: quiet: -1s is negative"},
		{"PUT", "/v1/timers/k", `{"debounce":{"quiet":"1s","longest":"soon"},"to":{"queue":"q"}}`, 400, "debounce: longest: \"soon\" is not"},
		{"PUT", "/v1/timers/k", `{"debounce":{"quiet":"1s","longest":"1m","most":"2m"},"to":{"queue":"q"}}`, 400, "most"},
		{"PUT", "/v1/timers/k?if=absent", `{"debounce":{"quiet":"1s","longest":"1m"},"to":{"queue":"q"}}`, 400, "nor with debounce"},
		{"PUT", "/v1/timers/k", `{"in":"1","to":{"queue":"q"}}`, 400, "in:"},
		{"PUT", "/v1/timers/k", `{"in":"-1s","to":{"queue":"q"}}`, 400, "negative"},
		{"PUT", "/v1/timers/k", `{"in":"999999999h","to":{"queue":"q"}}`, 400, "in:"},
		{"PUT", "/v1/timers/k", `{"at":"tomorrow","to":{"queue":"q"}}`, 400, "at:"},
		{"PUT", "/v1/timers/k", `{"at":"9999-12-31T23:59:59Z","to":{"queue":"q"}}`, 400, "2262-04-11T23:47:16Z"},
		{"PUT", "/v1/timers/k", `{"at":"2262-04-11T23:47:17Z","to":{"queue":"q"}}`, 400, "2262-04-11T23:47:16Z"},
		{"PUT", "/v1/timers/k", `{"at":"0001-01-01T00:00:00Z","to":{"queue":"q"}}`, 400, "1677-09-21"},
		{"PUT", "/v1/timers/k", `{"in":"2562047h","to":{"queue":"q"}}`, 400, "in: 2562047h0m0s"},
		{"PATCH", "/v1/timers/k", `{"at":"9999-12-31T23:59:59Z"}`, 400, "at:"},
		{"PUT", "/v1/timers/k", `{"schedule":"@every 2562047h","to":{"queue":"q"}}`, 400, "no run"},
		{"PUT", "/v1/timers/k", `{"schedule":"` + strings.Repeat("x", 200000) + `","to":{"queue":"q"}}`, 400, ""},
		{"POST", "/v1/import", `{"key":"i","value":1,"to":{"queue":"q"},"timeout":"30s","due":"9999-01-01T00:00:00Z","id":"00000000000000000000000000000001","attempt":0,"state":"waiting"}`, 400, "9999"},
		{"PUT", "/v1/timers/k", `{"schedule":"every day","to":{"queue":"q"}}`, 400, "schedule"},
		{"PUT", "/v1/timers/k", `{"schedule":"0 0 31 2 *","to":{"queue":"q"}}`, 400, ""},
		{"PUT", "/v1/timers/k", `{"in":"1s"}`, 400, "to:"},
		{"PUT", "/v1/timers/k", `{"in":"1s","to":{}}`, 400, "to:"},
		{"PUT", "/v1/timers/k", `{"in":"1s","to":{"queue":"q","webhook":"http://x/"}}`, 400, "to:"},
		{"PUT", "/v1/timers/k", `{"in":"1s","to":{"mail":"q"}}`, 400, "mail"},
		{"PUT", "/v1/timers/k", `{"in":"1s","to":{"webhook":"ftp://x/"}}`, 400, "http"},
		{"PUT", "/v1/timers/k", `{"in":"1s","to":{"subject":"orders"}}`, 400, "-nats"},
		{"PUT", "/v1/timers/k", `{"in":"1s","to":{"queue":"q"},"timeout":"0s"}`, 400, "timeout"},
		{"PUT", "/v1/timers/k", `{"in":"1s","to":{"queue":"q"},"inn":1}`, 400, "inn"},
		{"PUT", "/v1/timers/k?iff=absent", `{"in":"1s","to":{"queue":"q"}}`, 400, "query.iff"},
		{"PUT", "/v1/timers/k?key=x", `{"in":"1s","to":{"queue":"q"}}`, 400, "query.key"},
		{"PUT", "/v1/timers/k?if=absent&" + strings.Repeat("x", 5000), `{"in":"1s","to":{"queue":"q"}}`, 400, "query.xxx"},
		{"GET", "/v1/timers?state=dead&page=2", ``, 400, "query.page"},
		{"PUT", "/v1/timers/k?if=never", `{"in":"1s","to":{"queue":"q"}}`, 400, "if"},
		{"PUT", "/v1/timers/k", `{"in":"1s","to":{"queue":"q"},"value":"` + strings.Repeat("v", 60<<10) + `"}`, 413, "61440"},
		{"PUT", "/v1/timers/k", `{"in":"1s","to":{"queue":"q"},"value":"` + strings.Repeat("v", 1<<20) + `"}`, 413, ""},
		{"PATCH", "/v1/timers/k", `{}`, 400, "exactly one of in, at and paused"},
		{"PATCH", "/v1/timers/k", `{"schedule":"@daily"}`, 400, ""},
		{"GET", "/v1/timers?limit=0", ``, 400, "limit"},
		{"GET", "/v1/timers?limit=1001", ``, 400, "limit"},
		{"GET", "/v1/timers?limit=x", ``, 400, "limit"},
		{"GET", "/v1/timers?state=done", ``, 400, "state"},
		{"DELETE", "/v1/timers", ``, 400, "prefix"},
		{"DELETE", "/v1/timers?prefix=", ``, 400, "prefix"},
		{"POST", "/v1/batch", `{"operations":[` + strings.Repeat(`{"op":"remove","key":"k"},`, 10000) + `{"op":"remove","key":"k"}]}`, 400, "more than 10000"},
		{"POST", "/v1/queues/q/take", `{"max":0}`, 400, "max"},
		{"POST", "/v1/queues/q/take", `{"max":10001}`, 400, "max"},
		{"POST", "/v1/queues/q/take", `{"wait":"-1s"}`, 400, "wait"},
		{"POST", "/v1/queues/q/take", `{"wait":"1h"}`, 400, "wait"},
		{"POST", "/v1/queues/q/done", `{"tokens":["x"],"error":"y"}`, 400, "error"},
		{"GET", "/v1/timers/a/b", ``, 404, ""},
		{"GET", "/nothing", ``, 404, ""},
		{"POST", "/v1/timers", ``, 405, "GET"},
		{"GET", "/v1/batch", ``, 405, "POST"},
	} {
		name := fmt.Sprintf("%s %.60s %.100s", c.method, c.path, c.body)
		detail := s.do(c.method, c.path, c.body).problem(c.status)
		require.Contains(t, detail, c.detail, name)
		require.LessOrEqual(t, len(detail), 1100, "an error does not echo what was sent: %s", name)
	}
	require.Empty(t, s.do("GET", "/v1/timers", "").json(200)["timers"])
}

// keysOf returns the keys of a page.
func keysOf(page map[string]any) (keys []string) {
	for _, one := range page["timers"].([]any) {
		keys = append(keys, one.(map[string]any)["key"].(string))
	}
	return keys
}

// Pages come in order of the keys' bytes, and have each timer once.
func TestList(t *testing.T) {
	s := serve(t)
	var ops []string
	for i := range 250 {
		ops = append(ops, fmt.Sprintf(`{"op":"set","key":"k%03d","in":"1h","to":{"queue":"q"}}`, i))
	}
	for _, key := range []string{"K", "z", "ä", "kä", "l"} {
		ops = append(ops, fmt.Sprintf(`{"op":"set","key":%q,"in":"1h","to":{"queue":"q"}}`, key))
	}
	s.do("POST", "/v1/batch", `{"operations":[`+strings.Join(ops, ",")+`]}`).json(200)
	var all []string
	after := ""
	for pages := 0; ; pages++ {
		page := s.do("GET", "/v1/timers?limit=100&after="+url.QueryEscape(after), "").json(200)
		all = append(all, keysOf(page)...)
		next, more := page["next"]
		if !more {
			require.Equal(t, 2, pages)
			break
		}
		after = next.(string)
	}
	require.Len(t, all, 255)
	require.IsIncreasing(t, all)
	first := s.do("GET", "/v1/timers", "").json(200)
	require.Len(t, first["timers"], 100)
	require.Equal(t, "k098", first["next"])
	require.Equal(t, []string{"k100", "k101"}, keysOf(s.do("GET", "/v1/timers?prefix=k10&limit=2", "").json(200)))
	last := s.do("GET", "/v1/timers?prefix=k10&limit=10", "").json(200)
	require.Len(t, last["timers"], 10)
	require.NotContains(t, last, "next", "the page is full, and the last")
	require.Empty(t, keysOf(s.do("GET", "/v1/timers?state=dead", "").json(200)))
	require.Empty(t, keysOf(s.do("GET", "/v1/timers?state=running", "").json(200)))
	require.Len(t, keysOf(s.do("GET", "/v1/timers?state=waiting&limit=1000", "").json(200)), 255)

	require.Equal(t, 10.0, s.do("DELETE", "/v1/timers?prefix=k10", "").json(200)["removed"])
	require.Equal(t, 0.0, s.do("DELETE", "/v1/timers?prefix=k10", "").json(200)["removed"])
	require.Equal(t, 245.0, s.do("DELETE", "/v1/timers?all=true", "").json(200)["removed"])
	require.Empty(t, keysOf(s.do("GET", "/v1/timers", "").json(200)))
}

// The results of a batch are in the order of its operations, which are done in this order.
func TestBatch(t *testing.T) {
	s := serve(t)
	out := s.do("POST", "/v1/batch", `{"operations":[
		{"op":"set","key":"a","in":"1h","value":1,"to":{"queue":"q"}},
		{"op":"move","key":"a","in":"2h"},
		{"op":"move","key":"b","in":"2h"},
		{"op":"set","key":"c","in":"1h","to":{"webhook":"x"}},
		{"op":"set","key":"","in":"1h","to":{"queue":"q"}},
		{"op":"jump","key":"a"},
		{"op":"set","key":"a","in":"1h","value":2,"to":{"queue":"q"}},
		{"op":"set","key":"d","at":"2040-01-01T00:00:00Z","to":{"queue":"q"}},
		{"op":"remove","key":"d"},
		{"op":"remove","key":"d"}
	]}`).json(200)
	var oks []bool
	for _, r := range out["results"].([]any) {
		one := r.(map[string]any)
		oks = append(oks, one["ok"].(bool))
		require.Equal(t, one["ok"], one["error"] == nil)
	}
	require.Equal(t, []bool{true, true, false, false, false, false, true, true, true, false}, oks)
	require.Equal(t, 2.0, s.do("GET", "/v1/timers/a", "").json(200)["value"])
	require.Equal(t, []string{"a"}, keysOf(s.do("GET", "/v1/timers", "").json(200)))

	var ops []string
	for i := range 10000 {
		ops = append(ops, fmt.Sprintf(`{"op":"set","key":"%d","in":"1h","to":{"queue":"q"}}`, i%5000))
	}
	out = s.do("POST", "/v1/batch", `{"operations":[`+strings.Join(ops, ",")+`]}`).json(200)
	require.Len(t, out["results"], 10000)
	require.Empty(t, s.do("POST", "/v1/batch", `{"operations":[]}`).json(200)["results"])

	value := strings.Repeat("v", 50<<10)
	ops = ops[:0]
	for i := range 200 {
		ops = append(ops, fmt.Sprintf(`{"op":"set","key":"large-%d","in":"1h","value":%q,"to":{"queue":"q"}}`, i, value))
	}
	out = s.do("POST", "/v1/batch", `{"operations":[`+strings.Join(ops, ",")+`]}`).json(200)
	for _, r := range out["results"].([]any) {
		require.Equal(t, map[string]any{"ok": true}, r)
	}
}

// A timer is set if a condition is met; else the answer has the one that is there.
func TestConditions(t *testing.T) {
	s := serve(t)
	put := func(cond, in string, status int) map[string]any {
		t.Helper()
		return s.do("PUT", "/v1/timers/k?if="+cond, fmt.Sprintf(`{"in":%q,"value":%q,"to":{"queue":"q"}}`, in, in)).json(status)
	}
	put("absent", "1h", 200)
	p := put("absent", "2h", 409)
	require.Equal(t, "Conflict", p["title"])
	require.Equal(t, "1h", p["timer"].(map[string]any)["value"])
	put("sooner", "2h", 409)
	require.Equal(t, "30m", put("sooner", "30m", 200)["value"])
	put("later", "10m", 409)
	require.Equal(t, "3h", put("later", "3h", 200)["value"])
	out := s.do("POST", "/v1/batch", `{"operations":[
		{"op":"set","if":"absent","key":"k","in":"1h","to":{"queue":"q"}},{"op":"set","if":"absent","key":"l","in":"1h","to":{"queue":"q"}},
		{"op":"set","if":"sooner","key":"k","in":"1h","to":{"queue":"q"}},{"op":"set","if":"later","key":"k","in":"1m","to":{"queue":"q"}}
	]}`).json(200)
	var oks []bool
	for _, r := range out["results"].([]any) {
		oks = append(oks, r.(map[string]any)["ok"].(bool))
	}
	require.Equal(t, []bool{false, true, true, false}, oks)
	s.do("PUT", "/v1/timers/k?if=absent", `{"schedule":"@daily","to":{"queue":"q"}}`).problem(400)
}

// A schedule runs again and again under one key.
func TestSchedules(t *testing.T) {
	s := serve(t)
	h := newHook(t, nil)
	set := s.do("PUT", "/v1/timers/s", fmt.Sprintf(`{"schedule":"@every 50ms","value":1,"to":{"webhook":%q}}`, h.URL)).json(200)
	require.Equal(t, "@every 50ms", set["schedule"])
	first, second := h.next(t), h.next(t)
	require.NotEqual(t, first.header.Get("webhook-id"), second.header.Get("webhook-id"))
	s.do("DELETE", "/v1/timers/s", "").json(200)
	night := s.do("PUT", "/v1/timers/night", `{"schedule":"CRON_TZ=Europe/Berlin 30 2 * * *","to":{"queue":"reports"}}`).json(200)
	require.Equal(t, "CRON_TZ=Europe/Berlin 30 2 * * *", night["schedule"])
	require.Contains(t, s.do("GET", "/v1/timers", "").body, "Europe/Berlin")

	s.do("PUT", "/v1/timers/q", `{"schedule":"@every 20ms","to":{"queue":"runs"}}`).json(200)
	ids := make(map[any]bool)
	for range 3 {
		f := s.takeAll("runs", 1)[0]
		ids[f["id"]] = true
		require.Equal(t, []bool{true}, s.ends("runs", "done", f["token"]))
	}
	require.Len(t, ids, 3)
}

// A timer that is set or moved may have ended before the answer, which has it all the same.
func TestEndsBeforeTheAnswer(t *testing.T) {
	s := serve(t)
	h := newHook(t, nil)
	answered := make(chan string, 1000)
	var clients sync.WaitGroup
	for client := range 16 {
		clients.Go(func() {
			for i := range 20 {
				set := s.set(fmt.Sprintf("s%d-%d", client, i), "0s", h.URL, "")
				key := fmt.Sprintf("m%d-%d", client, i)
				s.set(key, "24h", h.URL, "")
				moved := s.do("PATCH", "/v1/timers/"+key, `{"in":"0s"}`).json(200)
				answered <- set["id"].(string)
				answered <- moved["id"].(string)
			}
		})
	}
	clients.Wait()
	ids := make(map[string]bool)
	for range 2 * 16 * 20 {
		ids[h.next(t).header.Get("webhook-id")] = true
	}
	for range 2 * 16 * 20 {
		require.True(t, ids[<-answered])
	}
}
