package api

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// do sends a request to the handler.
func (a *API) do(t testing.TB, method, path string, body io.Reader) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, body)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	require.Zero(t, a.memory.taken.Load(), "all memory is given back")
	return w
}

// counted counts the bytes that are read of a body.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// repeated returns a text over and over, of a size, and at least once.
func repeated(text string, size int) io.Reader {
	parts := make([]io.Reader, max(1, size/len(text)))
	for i := range parts {
		parts[i] = strings.NewReader(text)
	}
	return io.MultiReader(parts...)
}

// hostile returns a body of a size, whose items are small.
func hostile(begin, item string, size int) io.Reader {
	const some = 64 << 10
	return io.MultiReader(strings.NewReader(begin), repeated(strings.Repeat(item+",", some/len(item)), size), strings.NewReader(item+"]}"))
}

// Who may not send a request has no body read, and who may makes the server take no more than a few times its size.
func TestHostileBodies(t *testing.T) {
	a := newAPI(t)
	const size = 16 << 20
	for _, c := range []struct {
		path, begin, item string
		size, status      int
	}{
		{"/v1/batch", `{"operations":[`, `0`, size, 400}, {"/v1/batch", `{"operations":[`, `{}`, size, 400},
		{"/v1/batch", `{"operations":[`, `{"op":"set","value":[],"to":{}}`, size, 400}, {"/v1/batch", `{"other":[`, `[[]]`, size, 400},
		{"/v1/batch", `{"operations":[`, `[` + strings.Repeat("0,", 9000) + `0]`, size, 400}, // no array has too many
		{"/v1/batch", `{"operations":[`, `0`, 70 << 20, 413},
		{"/v1/queues/q/done", `{"tokens":[`, `""`, 3 << 20, 400}, {"/v1/queues/q/fail", `{"tokens":[`, `""`, size, 413},
		{"/v1/queues/q/take", `{"max":[`, `0`, size, 413}, {"/v1/queues/q/take", `{"max":[`, `0`, 100 << 10, 400},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := a.do(t, "POST", c.path, hostile(c.begin, c.item, c.size))
		runtime.ReadMemStats(&after)
		require.Equal(t, c.status, w.Code, "%s %.100s: %s", c.path, c.item, w.Body)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*min(c.size, batchLimit.size)+1<<20), "%s %.100s", c.path, c.item)
	}

	a.Tokens = new(atomic.Pointer[access.Tokens])
	tokens, err := access.Parse(strings.NewReader(fmt.Sprintf("r read %x", sha256.Sum256([]byte("t")))))
	require.NoError(t, err)
	a.Tokens.Store(tokens)
	for _, request := range [][2]string{
		{"POST", "/v1/batch"}, {"PUT", "/v1/timers/k"}, {"PATCH", "/v1/timers/k"}, {"POST", "/v1/import"},
		{"POST", "/v1/queues/q/take"}, {"POST", "/v1/queues/q/done"}, {"POST", "/v1/queues/q/fail"},
	} {
		body := &counted{Reader: hostile(`{"operations":[`, `0`, size)}
		r := httptest.NewRequest(request[0], request[1], body)
		r.ContentLength = 1 // else the rest is thrown away after the answer
		r.Header.Set("Authorization", "Bearer t")
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		require.Equal(t, http.StatusForbidden, w.Code, w.Body)
		require.Zero(t, body.n, request)
	}
}

// All bodies together take no more than there is: what does not fit is refused, and fits later.
func TestBodiesTogether(t *testing.T) {
	a := newAPI(t)
	const size = 60 << 10
	a.memory.most = 16 * size
	held, codes, end := make(chan bool), make(chan int), make(chan struct{})
	send := func() {
		body := io.MultiReader(repeated(" ", size), before(func() { held <- true; <-end }))
		r := httptest.NewRequest("POST", "/v1/batch", body)
		r.Host, r.ContentLength = "localhost", size+1
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		codes <- w.Code
	}
	const requests = 100
	refused := 0
	for range requests {
		go send()
		select {
		case <-held:
		case code := <-codes:
			require.Equal(t, http.StatusTooManyRequests, code)
			refused++
		}
	}
	require.Equal(t, 15, requests-refused) // each has a byte more than its size
	require.LessOrEqual(t, a.memory.taken.Load(), a.memory.most)
	close(end)
	for range requests - refused {
		require.NotEqual(t, 200, <-codes)
	}
	require.Equal(t, 200, a.do(t, "POST", "/v1/batch", strings.NewReader(`{"operations":[]}`)).Code)
}

// What a body claims to be takes no memory before it is there.
func TestBodiesThatNeverCome(t *testing.T) {
	a := newAPI(t)
	for _, sent := range []int{0, 1, 10 << 10} {
		for _, length := range []int64{-1, 65534, 200 << 10} {
			var taken int64
			body := io.MultiReader(strings.NewReader(strings.Repeat(" ", sent)), before(func() { taken = a.memory.taken.Load() }))
			r := httptest.NewRequest("PUT", "/v1/timers/k", body)
			r.Host, r.ContentLength = "localhost", length
			a.ServeHTTP(httptest.NewRecorder(), r)
			require.Positive(t, taken)
			require.LessOrEqual(t, taken, int64(2*max(sent, 2<<10)), "%d of %d", sent, length)
		}
	}
}

// However many large bodies are on their way, small ones have room.
func TestLargeBodiesLeaveRoom(t *testing.T) {
	a := newAPI(t)
	a.memory.most = 8 << 20
	held, refused, end := make(chan bool), make(chan int, 20), make(chan struct{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			body := io.MultiReader(repeated(strings.Repeat(" ", 1<<10), 1<<20), before(func() { held <- true; <-end }))
			w := httptest.NewRecorder()
			r := httptest.NewRequest("POST", "/v1/batch", body)
			r.Host = "localhost"
			if a.ServeHTTP(w, r); w.Code == http.StatusTooManyRequests {
				refused <- w.Code
			}
		})
		select {
		case <-held:
		case <-refused:
		}
	}
	taken := a.memory.taken.Load()
	require.LessOrEqual(t, taken, a.memory.most/4*3)
	ask(t, a, "PUT", "/v1/timers/k", `{"in":"1h","value":"`+strings.Repeat("v", 60000)+`","to":{"queue":"q"}}`, 200)
	require.Equal(t, taken, a.memory.taken.Load())
	close(end)
	all.Wait()
}

// before is a body that is empty. It calls the function first.
type before func()

func (f before) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// JSON that would be lost on its way is refused at each door, and what is nested deeper than a limit is, too.
func TestStrangeJSON(t *testing.T) {
	a := newAPI(t)
	set := func(value string) string { return `{"in":"1h","to":{"queue":"q"},"value":` + value + `}` }
	batch := func(op string) string { return `{"operations":[{"op":"set","key":"b",` + op[1:] + `]}` }
	line := func(value string) string {
		return `{"key":"i","to":{"queue":"q"},"timeout":"30s","due":"2040-01-01T00:00:00Z","id":"00000000000000000000000000000001","attempt":0,"state":"waiting",` + value + `}`
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		detail             string
	}{
		{"PUT", "/v1/timers/k", set(nested(99)), 200, ""}, {"PUT", "/v1/timers/k", set(nested(100)), 400, "nested more than 100 deep"},
		{"PUT", "/v1/timers/k", set(nested(9998)), 400, "deep"}, {"PUT", "/v1/timers/k", set(`"[[\"[["`), 200, ""},
		{"PUT", "/v1/timers/k", set(strings.Repeat("[", 30000)), 400, "deep"},
		{"PATCH", "/v1/timers/k", `{"in":` + nested(100) + `}`, 400, "deep"},
		{"POST", "/v1/batch", batch(set(nested(97))), 200, ""}, {"POST", "/v1/batch", batch(set(nested(98))), 400, "deep"},
		{"POST", "/v1/import?partial=true", line(`"value":` + nested(99)), 200, ""}, {"POST", "/v1/import?partial=true", line(`"value":` + nested(100)), 400, "deep"},
		{"POST", "/v1/import?partial=true", line(`"value_text":"` + nested(99) + `"`), 200, ""},
		{"POST", "/v1/import?partial=true", line(`"value_text":"` + nested(100) + `"`), 400, "deep"},
		{"PUT", "/v1/timers/k", `{"in":"1h","in":"2h","to":{"queue":"q"}}`, 400, `"in" comes twice`},
		{"PUT", "/v1/timers/k", `{"in":"1h","IN":"2h","to":{"queue":"q"}}`, 400, `"in" comes twice`},
		{"PUT", "/v1/timers/k", `{"\u0069n":"1h","in":"2h","to":{"queue":"q"}}`, 400, `"in" comes twice`},
		{"PUT", "/v1/timers/k", `{"in":"1h","to":{"queue":"q","queue":"r"}}`, 400, `"queue" comes twice`},
		{"PUT", "/v1/timers/k", `{"in":"1h","schedule":"@daily","\u017fchedule":"@daily","to":{"queue":"q"}}`, 400, `"schedule" comes twice`},
		{"POST", "/v1/batch", `{"operations":[],"operations":[]}`, 400, `"operations" comes twice`},
		{"POST", "/v1/batch", batch(set(`1,"key":"c"`)), 400, `"key" comes twice`},
		{"POST", "/v1/import?partial=true", line(`"value":1,"value":2`), 400, `"value" comes twice`},
		{"PUT", "/v1/timers/k", set(`{"a":1,"a":"\ud800"}`), 200, ""}, // a value is any JSON
		{"POST", "/v1/batch", `{"operations":[{"op":"remove","key":"\ud800"}]}`, 400, "half a character"},
		{"POST", "/v1/batch", `{"operations":[{"op":"remove","key":"\ud83d\ude00\udc00"}]}`, 400, "half a character"},
		{"POST", "/v1/batch", `{"operations":[{"op":"remove","key":"\\ud800\ud83d\ude00"}]}`, 200, ""},
		{"POST", "/v1/import?partial=true", line(`"value":1,"error":"\udfff"`), 400, "half a character"},
		{"PUT", "/v1/timers/k", "{\"in\":\"1h\",\"to\":{\"queue\":\"\xff\"}}", 400, "UTF-8"},
		{"POST", "/v1/batch", `{"operations":null}`, 400, "operations"}, {"POST", "/v1/batch", `{"ops":[]}`, 400, "operations"},
		{"POST", "/v1/batch", `{"operations":[]} 1`, 400, "after"}, {"POST", "/v1/batch", `{"operations":[{"op":"set","value":1}`, 400, ""},
		{"PUT", "/v1/timers/k", `{` + manyFields(101) + `}`, 400, "more than 100 fields"},
		{"POST", "/v1/import", `{` + manyFields(101) + `}`, 400, "more than 100 fields"},
	} {
		w := a.do(t, c.method, c.path, strings.NewReader(c.body))
		require.Equal(t, c.status, w.Code, "%.200s: %.200s", c.body, w.Body)
		require.Contains(t, w.Body.String(), strings.ReplaceAll(c.detail, `"`, `\"`), "%.200s", c.body)
	}
	w := a.do(t, "GET", "/v1/timers", nil)
	require.Equal(t, 200, w.Code)
	require.Contains(t, w.Body.String(), `"value":`+nested(97))
}

func manyFields(n int) string {
	fields := make([]string, n)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"%d":0`, i)
	}
	return strings.Join(fields, ",")
}

// A value that is in the log, however it came there, spoils neither a list nor what is taken with it.
func TestStrangeStoredValues(t *testing.T) {
	a := newAPI(t)
	for key, value := range map[string]string{"a": "1", "b": nested(9999), "c": nested(10001), "d": `{`, "e": "", "f": "2"} {
		one := task.Task{Value: []byte(value), To: task.Target{Kind: task.Queue, Name: "q"}, Timeout: time.Minute}
		_, err := a.Service.Set(t.Context(), key, one, 0)
		require.NoError(t, err)
		w := a.do(t, "GET", "/v1/timers/"+key, nil)
		require.Equal(t, 200, w.Code)
		require.True(t, json.Valid(w.Body.Bytes()))
	}
	var list, taken struct {
		Timers, Firings []struct {
			Key, Text string
			Value     json.RawMessage
			ValueText string `json:"value_text"`
		}
	}
	w := a.do(t, "GET", "/v1/timers", nil)
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &list), w.Body)
	require.Len(t, list.Timers, 6)
	require.Equal(t, nested(10001), list.Timers[2].ValueText)
	require.Equal(t, "2", string(list.Timers[5].Value))
	for len(taken.Firings) < 6 {
		w = a.do(t, "POST", "/v1/queues/q/take", strings.NewReader(`{"max":10,"wait":"1m"}`))
		require.Equal(t, 200, w.Code)
		all := taken.Firings
		taken.Firings = nil
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &taken), w.Body)
		taken.Firings = append(all, taken.Firings...)
	}
	texts := make(map[string]string)
	for _, f := range taken.Firings {
		texts[f.Key] = string(f.Value) + f.ValueText
	}
	require.Equal(t, map[string]string{"a": "1", "b": "null" + nested(9999), "c": "null" + nested(10001), "d": "null{", "e": "null", "f": "2"}, texts)
}

// A body that is not as HTTP has it is the client's mistake.
func TestBadChunks(t *testing.T) {
	server := httptest.NewServer(newAPI(t))
	defer server.Close()
	for _, path := range []string{"PUT /v1/timers/k", "POST /v1/batch", "POST /v1/import", "POST /v1/queues/q/take"} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		_, err = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", path)
		require.NoError(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err, path)
		require.Equal(t, 400, resp.StatusCode, path)
		resp.Body.Close()
		conn.Close()
	}
}

// A body that does not come in its time is answered with 408.
func TestSlowBody(t *testing.T) {
	before := settingLimit
	defer func() { settingLimit = before }()
	settingLimit.time = 50 * time.Millisecond
	server := httptest.NewServer(newAPI(t))
	defer server.Close()
	body, rest := io.Pipe()
	defer rest.Close()
	resp, err := http.Post(server.URL+"/v1/queues/q/take", "", body)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusRequestTimeout, resp.StatusCode)
}
