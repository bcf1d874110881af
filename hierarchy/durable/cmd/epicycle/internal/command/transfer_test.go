package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/client"
)

// lines returns the lines of an export, by key.
func lines(t testing.TB, text string) map[string]string {
	t.Helper()
	all, ended := make(map[string]string), false
	for line := range strings.Lines(text) {
		var one struct {
			Key    string
			Timers *int
		}
		require.NoError(t, json.Unmarshal([]byte(line), &one), line)
		if one.Timers != nil {
			require.Len(t, all, *one.Timers)
			ended = true
			continue
		}
		require.False(t, ended)
		if all[one.Key] != "" {
			t.Fatalf("%q comes twice", one.Key)
		}
		all[one.Key] = line
	}
	require.True(t, ended)
	return all
}

// fill sets n timers.
func (s *served) fill(n int) {
	s.t.Helper()
	const some = 10000
	for from := 0; from < n; from += some {
		var ops []string
		for i := from; i < min(n, from+some); i++ {
			ops = append(ops, fmt.Sprintf(`{"op":"set","key":"k%06d","in":"24h","value":{"n":%d},"to":{"queue":"q"}}`, i, i))
		}
		s.do("POST", "/v1/batch", `{"operations":[`+strings.Join(ops, ",")+`]}`).json(200)
	}
}

// variety sets timers of all kinds.
func (s *served) variety(t *testing.T) {
	t.Helper()
	h := newHook(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/dead" {
			w.WriteHeader(http.StatusGone)
			return
		}
		w.Header().Set("Retry-After", "3600") // no attempt comes between two exports
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	s.set("dead", "0s", h.URL+"/dead", "")
	s.set("tried", "0s", h.URL+"/tried", "")
	s.queue("running", "0s", "taken", `,"timeout":"1h"`)
	s.takeAll("taken", 1)
	for key, body := range map[string]string{
		"schedule":       `{"schedule":"CRON_TZ=Europe/Berlin 30 2 * * *","to":{"queue":"q"},"value":[1, 2]}`,
		"a/b \u00fc\n<&": `{"at":"2040-01-02T03:04:05.678Z","to":{"webhook":"https://example.com/?a=1&b=<2>"},"value":"\u2028<&>\ud83d\ude00"}`,
		"spaced":         "{\"in\":\"24h\",\"to\":{\"queue\":\"q\"},\"value\":{ \"a\" :\n 1.0e0 }}",
		"null":           `{"in":"24h","to":{"queue":"q"},"timeout":"1m30s"}`,
	} {
		s.do("PUT", client.Path(key), body).json(200)
	}
	s.becomes("dead", hasState("dead"))
	s.becomes("tried", func(a *answer) bool { return strings.Contains(a.body, `"attempt":1,"state":"waiting"`) })
}

// All timers of a server come to another one as they are.
func TestExportImport(t *testing.T) {
	const n = 100000
	a := serve(t, "-partitions", "3")
	a.variety(t)
	a.fill(n)
	out := a.do("GET", "/v1/export", "")
	require.Equal(t, 200, out.status)
	require.Equal(t, "application/jsonl", out.header.Get("Content-Type"))
	before := lines(t, out.body)
	require.Len(t, before, n+7)

	b := serve(t, "-partitions", "2")
	b.queue("other", "24h", "q", "")
	b.queue("k000000", "1h", "replaced", "")
	require.Equal(t, float64(n+7), b.do("POST", "/v1/import", out.body).json(200)["imported"])
	after := lines(t, b.do("GET", "/v1/export", "").body)
	require.Contains(t, after, "other")
	delete(after, "other")
	require.Equal(t, len(before), len(after))
	for key, line := range before {
		if key == "running" { // its attempt is the other server's
			line = strings.Replace(line, `"state":"running"`, `"state":"waiting"`, 1)
		}
		if line != after[key] {
			require.Equal(t, line, after[key])
		}
	}
	for _, key := range []string{"dead", "schedule", "spaced", "null", "a/b \u00fc\n<&", "k099999"} {
		want := a.do("GET", client.Path(key), "").json(200)
		delete(want, "attempts") // which are in memory of the server that made them
		require.Equal(t, want, b.do("GET", client.Path(key), "").json(200))
	}
	require.Equal(t, float64(n+8), b.do("POST", "/v1/import", b.do("GET", "/v1/export", "").body).json(200)["imported"], "again")
}

const goodLine = `{"key":"%s","value":1,"to":{"queue":"q"},"timeout":"30s","due":"2040-01-01T00:00:00Z","id":"%032x","attempt":0,"state":"waiting"}` + "\n"

// A line that can't be right is named, and those before it are imported.
func TestBadLines(t *testing.T) {
	s := serve(t)
	good := func(key string) string { return fmt.Sprintf(goodLine, key, 1) }
	change := func(from, to string) string { return strings.Replace(good("bad"), from, to, 1) }
	for detail, c := range map[string]struct {
		line   string
		status int
	}{
		"unexpected end of JSON":               {`{"key":"bad"` + "\n", 400},
		"cannot unmarshal":                     {"[]\n", 400},
		"the key is empty":                     {change(`"bad"`, `""`), 400},
		"key: ":                                {change(`"bad"`, `7`), 400},
		"1025 bytes":                           {change(`bad`, strings.Repeat("k", 1025)), 400},
		"not UTF-8":                            {change(`bad`, "\xff"), 400},
		"exactly one of webhook, subject":      {change(`"to":{"queue":"q"},`, ``), 400},
		"mail":                                 {change(`queue`, `mail`), 400},
		"subjects need":                        {change(`queue`, `subject`), 400},
		"value_text is not JSON":               {change(`"value":1`, `"value_text":"x"`), 400},
		"the value has 61442 bytes":            {change(`"value":1`, `"value":"`+strings.Repeat("v", 60<<10)+`"`), 413},
		"timeout":                              {change(`30s`, `0s`), 400},
		"must be \"waiting\"":                  {change(`waiting`, `lost`), 400},
		"ID":                                   {change(`"id":"0`, `"id":"x`), 400},
		"schedule":                             {change(`"attempt"`, `"schedule":"sometimes","attempt"`), 400},
		fmt.Sprintf("more than %d", 1<<20):     {change(`1,`, `"`+strings.Repeat("v", 1<<20)+`",`), 413},
		"there must be one of key and key_bas": {change(`"value"`, `"key_base64":"eA==","value"`), 400},
	} {
		a := s.do("POST", "/v1/import", good("a")+"\n"+good("b")+c.line+good("c"))
		said := a.problem(c.status)
		require.Contains(t, said, "line 4: ")
		require.Contains(t, said, detail)
		require.Contains(t, said, "; 2 timers were imported")
		require.Equal(t, 2.0, a.json(c.status)["imported"])
		require.Equal(t, []string{"a", "b"}, keysOf(s.do("GET", "/v1/timers", "").json(200)))
		s.do("DELETE", "/v1/timers?all=true", "").json(200)
	}
	require.Contains(t, s.do("POST", "/v1/import", "").problem(400), "; 0 timers were imported")
	require.Equal(t, 0.0, s.do("POST", "/v1/import", `{"timers":0}`).json(200)["imported"])
	require.Equal(t, 1.0, s.do("POST", "/v1/import?partial=true", strings.TrimSpace(good("last"))).json(200)["imported"])
	require.NotContains(t, s.logs.String(), "bad")
}

// What was cut short is imported as far as it goes, and the answer says so. A part that is meant to be one is imported.
func TestImportOfAPart(t *testing.T) {
	s := serve(t)
	s.fill(20)
	all := slices.Collect(strings.Lines(s.do("GET", "/v1/export", "").body))
	require.Equal(t, "{\"timers\":20}\n", all[20])
	require.Equal(t, "{\"timers\":10}\n", slices.Collect(strings.Lines(s.do("GET", "/v1/export?prefix=k00001", "").body))[10])
	first, cut := strings.Join(all[:7], ""), strings.Join(all[:20], "")
	for body, imported := range map[string]float64{first: 7, cut: 20, strings.Join(all[1:], ""): 19} {
		a := s.do("POST", "/v1/import", body)
		require.Contains(t, a.problem(400), "the lines are not complete: ")
		require.Contains(t, a.problem(400), "-partial")
		require.Equal(t, imported, a.json(400)["imported"])
		require.Equal(t, imported, s.do("POST", "/v1/import?partial=true", body).json(200)["imported"])
	}
	require.Contains(t, s.do("POST", "/v1/import?partial=true", cut+"{").problem(400), "line 21: ")
	code, _, errs := s.command(first, "import")
	require.Equal(t, usage, code)
	require.Contains(t, errs, "7 timers were imported")
	code, out, errs := s.command(first, "import", "-partial")
	require.Equal(t, ok, code, errs)
	require.Equal(t, "7 imported\n", out)
}

// An import does not wait for the end of its body: what has come is committed, and stays if the rest does not come.
func TestImportIsAStream(t *testing.T) {
	s := serve(t, "-partitions", "1")
	body, lines := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		req, _ := http.NewRequest("POST", s.url+"/v1/import", body)
		if resp, err := testClient.Do(req); err == nil {
			resp.Body.Close()
		}
	}()
	for i := range 1000 {
		_, err := fmt.Fprintf(lines, goodLine, fmt.Sprint(i), i+1)
		require.NoError(t, err)
	}
	s.becomes("499", hasState("waiting"))
	lines.CloseWithError(errors.New("given up"))
	<-ended
	s.do("GET", "/v1/timers/0", "").json(200)
}

// A token exports and imports only what it may.
func TestTransferTokens(t *testing.T) {
	s := serve(t, "-tokens", write(t, "tokens",
		tokenLine("r", "read", "tr", "")+tokenLine("rp", "read", "trp", "p-")+tokenLine("w", "write", "tw", "")+
			tokenLine("a", "admin", "ta", "")+tokenLine("ap", "admin", "tap", "p-")))
	s.do("GET", "/v1/export", "").problem(401)
	s.do("POST", "/v1/import", "").problem(401)
	admin := s.as("ta")
	admin.queue("p-1", "1h", "q", "")
	admin.queue("q-1", "1h", "q", "")
	keys := func(token, path string) []string {
		return slices.Sorted(maps.Keys(lines(t, s.as(token).do("GET", path, "").body)))
	}
	require.Equal(t, []string{"p-1", "q-1"}, keys("tr", "/v1/export"))
	require.Equal(t, []string{"q-1"}, keys("tr", "/v1/export?prefix=q"))
	require.Equal(t, []string{"p-1"}, keys("trp", "/v1/export"))
	require.Equal(t, []string{"p-1"}, keys("tap", "/v1/export?prefix=p-1"))
	require.Empty(t, keys("tap", "/v1/export?prefix=p-2"))
	s.as("trp").do("GET", "/v1/export?prefix=q", "").problem(403)

	all := admin.do("GET", "/v1/export", "").body
	for _, token := range []string{"tr", "trp", "tw"} {
		require.Contains(t, s.as(token).do("POST", "/v1/import", all).problem(403), "admin")
	}
	require.Equal(t, 2.0, admin.do("POST", "/v1/import", all).json(200)["imported"])
	require.Equal(t, 1.0, s.as("tap").do("POST", "/v1/import?partial=true", fmt.Sprintf(goodLine, "p-2", 1)).json(200)["imported"])
	said := s.as("tap").do("POST", "/v1/import", fmt.Sprintf(goodLine, "p-3", 1)+fmt.Sprintf(goodLine, "q-3", 1)).problem(403)
	require.Contains(t, said, "line 2: the token is for keys with another prefix; 1 timers were imported")
}

// The commands carry timers from a server to another one, by files and by pipes.
func TestTransferCommands(t *testing.T) {
	a := serve(t)
	a.fill(3)
	run := func(s *served, want int, in string, args ...string) (out, errs string) {
		t.Helper()
		code, out, errs := s.command(in, args...)
		require.Equal(t, want, code, "%q: %s%s", args, out, errs)
		return out, errs
	}
	all, errs := run(a, ok, "", "export")
	require.Len(t, lines(t, all), 3)
	require.Empty(t, errs)
	same, _ := run(a, ok, "", "export", "-")
	require.Equal(t, lines(t, all), lines(t, same))
	part, _ := run(a, ok, "", "export", "-prefix", "k000002")
	require.Len(t, lines(t, part), 1)
	file := filepath.Join(t.TempDir(), "timers.jsonl")
	out, _ := run(a, ok, "", "export", file)
	require.Equal(t, "3 exported\n", out)
	out, _ = run(a, ok, "", "export", file, "-json")
	require.JSONEq(t, `{"exported":3}`, out)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, lines(t, all), lines(t, string(text)))

	b := serve(t)
	out, _ = run(b, ok, all, "import")
	require.Equal(t, "3 imported\n", out)
	out, _ = run(b, ok, all, "import", "-", "-json")
	require.JSONEq(t, `{"imported":3}`, out)
	out, _ = run(b, ok, "", "import", file, "-json")
	require.JSONEq(t, `{"imported":3}`, out)
	again, _ := run(b, ok, "", "export")
	require.Equal(t, lines(t, all), lines(t, again))

	_, errs = run(b, usage, all+"nonsense\n", "import")
	require.Contains(t, errs, "line 5: ")
	require.Contains(t, errs, "3 timers were imported")
	run(b, usage, "", "import", filepath.Join(t.TempDir(), "none"))
	run(b, usage, "", "import", "x", "y")
	b.end()
	run(b, failed, all, "import")
	run(b, failed, "", "export", file)
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, text, kept, "an export that fails leaves the file")
	files, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, files, 1)
}

// salvage reads a directory without its server, and import what it has read.
func TestSalvage(t *testing.T) {
	dir := t.TempDir()
	a := serve(t, "-dir", dir, "-partitions", "2")
	a.variety(t)
	a.fill(100)
	salvaged := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"salvage"}, args...), streams{strings.NewReader(""), &out, &errs})
		return code, out.String(), errs.String()
	}
	code, _, errs := salvaged("-dir", dir)
	require.Equal(t, failed, code)
	require.Contains(t, errs, "in use")
	before := lines(t, a.do("GET", "/v1/export", "").body)
	a.end()
	code, out, errs := salvaged("-dir", dir)
	require.Equal(t, ok, code, errs)
	require.Contains(t, errs, "107 timers\n")
	b := serve(t)
	require.Equal(t, 107.0, b.do("POST", "/v1/import", out).json(200)["imported"])
	for key, line := range lines(t, b.do("GET", "/v1/export", "").body) {
		if key != "running" && key != "tried" { // these are due again when their last attempt has said
			require.Equal(t, before[key], line)
		}
	}

	files, err := filepath.Glob(filepath.Join(dir, "logs", "timers", "*.seg"))
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, "logs", "timers.mark")))
	whole := lines(t, out)
	file := filepath.Join(t.TempDir(), "salvaged.jsonl")
	code, _, errs = salvaged(append(files, "-out", file)...)
	require.Equal(t, notFound, code)
	require.Contains(t, errs, "its mark is missing")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	some := lines(t, string(text))
	require.Len(t, some, len(whole))
	for key, line := range some {
		require.Equal(t, whole[key], line)
	}
	for _, args := range [][]string{{}, {"-dir", dir, files[0]}, {"-nonsense"}} {
		code, _, _ := salvaged(args...)
		require.Equal(t, usage, code)
	}
	code, _, _ = salvaged("-dir", t.TempDir())
	require.Equal(t, failed, code)
}
