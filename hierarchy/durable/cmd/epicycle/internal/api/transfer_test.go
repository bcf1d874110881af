package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// newAPI returns one with a service of its own.
// The changes are made to its configuration.
func newAPI(t testing.TB, change ...func(*durable.Config[string, task.Task])) *API {
	t.Helper()
	cfg := durable.Config[string, task.Task]{Dir: t.TempDir()}
	for _, f := range change {
		f(&cfg)
	}
	a := openAPI(t, cfg)
	t.Cleanup(func() { require.NoError(t, a.Service.Shutdown(t.Context())) })
	return a
}

func openAPI(t testing.TB, cfg durable.Config[string, task.Task]) *API {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	s, err := service.Open(t.Context(), service.Config{
		Durable: cfg,
		Sender:  web.NewSender(new(web.Guard), nil, 1, "test"), PerHost: 1, Total: 1,
	})
	require.NoError(t, err)
	return New(Config{Service: s, Logger: cfg.Logger})
}

// calling returns the context of a call that is answered to w.
func calling(t *testing.T, a *API, w http.ResponseWriter) context.Context {
	r, end, p := a.begin(w, httptest.NewRequest("GET", "/v1/timers", nil))
	require.Nil(t, p)
	t.Cleanup(end)
	return r.Context()
}

// The times that a server gives to requests are over before the first byte, and an import and an export go on for as long
// as they have to.
func TestTransfersHaveTheirOwnTime(t *testing.T) {
	server := httptest.NewUnstartedServer(newAPI(t))
	server.Config.ReadHeaderTimeout, server.Config.ReadTimeout, server.Config.WriteTimeout = time.Minute, 1, 1
	server.Start()
	defer server.Close()
	var lines strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&lines, `{"key":"%04d","value":%q,"to":{"queue":"q"},"timeout":"30s","due":"2040-01-01T00:00:00Z","id":"%032x","attempt":0,"state":"waiting"}`+"\n",
			i, strings.Repeat("v", 1000), i+1)
	}
	lines.WriteString(`{"timers":2000}`)
	resp, err := server.Client().Post(server.URL+"/v1/import", "", strings.NewReader(lines.String()))
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, "{\"imported\":2000}\n", string(body))
	resp, err = server.Client().Get(server.URL + "/v1/export")
	require.NoError(t, err)
	body, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, 2001, strings.Count(string(body), "\n"))
	require.Greater(t, len(body), 2000*1000)
}

// An export that fails on its way does not end like one that is whole.
func TestExportIsCutShort(t *testing.T) {
	a := newAPI(t)
	var b durable.Batch[string, task.Task]
	for i := range 1000 {
		one := task.Task{Value: []byte(`"` + strings.Repeat("v", 1000) + `"`), To: task.Target{Kind: task.Queue, Name: "q"}, Timeout: time.Second}
		b.Set(fmt.Sprint(i), one, time.Hour)
	}
	require.NoError(t, a.Service.Batch(t.Context(), &b))
	w := &failing{httptest.NewRecorder(), 2}
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { a.exportTo(calling(t, a, w), w, "") })
	require.Len(t, w.Body.Bytes(), 2*partSize)

	w = &failing{httptest.NewRecorder(), 0}
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { a.exportTo(calling(t, a, w), w, "") })
	require.Empty(t, w.Body.Bytes())
}

// failing is a client that goes away after some parts.
type failing struct {
	*httptest.ResponseRecorder
	parts int
}

func (w *failing) Write(b []byte) (int, error) {
	if w.parts == 0 {
		return 0, io.ErrClosedPipe
	}
	w.parts--
	return w.ResponseRecorder.Write(b)
}

func (w *failing) SetWriteDeadline(time.Time) error { return nil }

// A stored line comes back as it was, with the fields that nobody here knows.
func TestLine(t *testing.T) {
	a := &API{Config: Config{Subjects: true}}
	for _, one := range []task.Task{
		{Value: []byte("{ \"a\" :\n1.0e0 }"), To: task.Target{Kind: task.Webhook, Name: "https://example.com/?a=<1>&b"}, Timeout: time.Minute},
		{Value: []byte(`"<ü>"`), To: task.Target{Kind: task.Queue, Name: "a\u2028b"}, Timeout: time.Second},
		{Value: []byte(`null`), To: task.Target{Kind: task.Subject, Name: "a.b"}, Timeout: time.Second},
	} {
		encoded, err := task.Codec{}.Append(nil, one)
		require.NoError(t, err)
		l := line{}
		l.set("key", "k\n<")
		l.set("value_base64", encoded)
		for name, text := range map[string]string{"id": `"x"`, "attempts": "3", "last_error": `"why"`, "state": `"dead"`, "later": `[1]`} {
			l[name] = []byte(text)
		}
		before := string(l.encode())
		ours, err := Line([]byte(before))
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(ours), "\n"))
		require.Contains(t, string(ours), `"attempt":3`)
		require.Contains(t, string(ours), `"last_error":"why"`)
		key, again, err := a.stored(ours)
		require.NoError(t, err)
		require.Equal(t, "k\n<", key)
		require.Equal(t, before, string(again))
	}
	for _, text := range []string{`{`, `{"key":"k"}`, `{"key":"k","value":1}`, `{"key":"k","value_text":"x"}`, `{"value_base64":7}`} {
		_, err := Line([]byte(text))
		require.Error(t, err, text)
	}
}

// An export is JSON whatever is in the log, and what can't be imported is refused, and not imported as something else.
func TestStrangeLines(t *testing.T) {
	a := newAPI(t)
	values := []string{"1", `{`, "", nested(100), nested(10001), "\"\xff\"", "\xff"}
	for i, value := range values {
		one := task.Task{Value: []byte(value), To: task.Target{Kind: task.Queue, Name: "q"}, Timeout: time.Minute}
		_, err := a.Service.Set(t.Context(), fmt.Sprint(i), one, time.Hour)
		require.NoError(t, err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/v1/export", nil)
	r.Host = "localhost"
	a.ServeHTTP(w, r)
	require.Equal(t, 200, w.Code)
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	require.Len(t, lines, len(values)+1)
	for i, value := range values {
		text := []byte(lines[i])
		require.True(t, json.Valid(text) && utf8.Valid(text), "%.100s", text)
		var got struct {
			Text  string `json:"value_text"`
			Bytes []byte `json:"value_base64"`
		}
		require.NoError(t, json.Unmarshal(text, &got))
		_, _, err := a.stored(text)
		if i == 0 {
			require.NoError(t, err)
			continue
		}
		require.Error(t, err, "%.100s", text)
		require.Equal(t, value, got.Text+string(got.Bytes))
	}
}
