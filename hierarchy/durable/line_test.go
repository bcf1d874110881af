package durable

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// oddTexts are texts that JSON has several ways to write, or none.
var oddTexts = []string{"", "null", "0", "1.0", "1e2", `"a"`, ` "a"`, `{"a":1}`, `{"a": 1}`, `{"a":1,"a":2}`, "[]\n", `"<&>"`, "\u2028", "\"\u2028\"",
	"\xff", "\"\xff\"", `"\ud800"`, "\x00", "\ufffd", "\u0645\u0631\u062d\u0628\u0627", `\`, `"`, "\ufeff1"}

// oddText returns an odd text, or several, or random bytes.
func oddText(r *rand.Rand) (b []byte) {
	for range r.IntN(3) {
		b = append(b, oddTexts[r.IntN(len(oddTexts))]...)
	}
	for range r.IntN(4) {
		b = append(b, byte(r.Uint32()))
	}
	return b
}

func randomLine(r *rand.Rand) (t *line, key, value []byte) {
	at := func() *time.Time {
		if r.IntN(2) == 0 {
			return nil
		}
		at := time.Unix(0, int64(r.Uint64())).UTC()
		return &at
	}
	t = &line{ID: "id", Due: time.Unix(0, int64(r.Uint64())).UTC(), WallTime: r.IntN(2) == 0, Attempts: r.Uint32N(3), Next: at(),
		State: []string{StateWaiting.String(), StateRunning.String(), StateDead.String()}[r.IntN(3)], Schedule: []string{"", "@daily"}[r.IntN(2)],
		Missed: r.Uint32N(3), Started: r.IntN(2) == 0, Failed: at(), Trace: oddText(r)}
	if len(t.Trace) == 0 {
		t.Trace = nil
	}
	key, value = oddText(r), oddText(r)
	t.setKey(key)
	t.setValue(value)
	t.setError(string(oddText(r)))
	return t, key, value
}

func encodeLine(t testing.TB, timer *line) []byte {
	var b bytes.Buffer
	require.NoError(t, newLineEncoder(&b).Encode(timer))
	require.Equal(t, 1, bytes.Count(b.Bytes(), []byte("\n")), "a timer is one line")
	return b.Bytes()
}

// What was written is read, whatever the bytes of keys, values and errors are.
func TestLinesAreReadAsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		want, key, value := randomLine(r)
		line := encodeLine(t, want)
		got, k, v, err := parseLine(line)
		require.NoError(t, err, "%s", line)
		require.Equal(t, string(key), string(k), "%s", line)
		require.Equal(t, string(value), string(v), "%s", line)
		require.Equal(t, want.getError(), got.getError(), "%s", line)
		require.Equal(t, want, got, "%s", line)
	}
}

// JSON and text are written as people read them.
func TestLinesAreReadable(t *testing.T) {
	for value, want := range map[string]string{`{"a":"<"}`: `"value":{"a":"<"}`, `{"a": 1}`: `"value_text":"{\"a\": 1}"`,
		"null": `"value":null`, "": `"value_text":""`, "\xff": `"value_base64":"/w=="`} {
		timer := &line{State: StateWaiting.String()}
		timer.setKey([]byte("k"))
		timer.setValue([]byte(value))
		require.Contains(t, string(encodeLine(t, timer)), `{"key":"k",`+want+`,"id"`)
	}
}

func TestBadLines(t *testing.T) {
	for line, why := range map[string]string{
		``: "JSON", `{`: "JSON", `[]`: "array", `{"key":1}`: "number",
		"\xff": "UTF-8", `{"value":1,"state":"dead"}`: "one of key",
		`{"key":"a","key_base64":"YQ==","value":1,"state":"dead"}`:      "one of key",
		`{"key_base64":"!","value":1,"state":"dead"}`:                   "base64",
		`{"key":"a","state":"dead"}`:                                    "one of value",
		`{"key":"a","value":1,"value_text":"a","state":"dead"}`:         "one of value",
		`{"key":"a","value_text":"a","value_base64":"","state":"dead"}`: "one of value",
		`{"key":"a","value":1}`:                                         "state",
		`{"key":"a","value":1,"state":"asleep"}`:                        "state",
		`{"key":"a","value":1,"state":"dead","attempts":-1}`:            "attempts",
		`{"key":"a","value":1,"state":"dead","due":"tomorrow"}`:         "tomorrow",
		`{"key":"a","value":1,"state":"dead","trace":"\ud800"}`:         "base64",
		`{"key":"a","value":1,"state":"dead"} {"key":"b"}`:              "after top-level value",
	} {
		_, _, _, err := parseLine([]byte(line))
		require.ErrorContains(t, err, why, line)
	}
}

// No line has parseLine panic, and what it reads is written so that it reads the same again.
func FuzzLine(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		t, _, _ := randomLine(r)
		f.Add(encodeLine(f, t))
	}
	f.Add([]byte(`{"key":"a","value": {"a": 1},"state":"dead","due":"2026-01-01T00:00:00+01:00"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		want, key, value, err := parseLine(line)
		if err != nil {
			return
		}
		got, k, v, err := parseLine(encodeLine(t, want))
		require.NoError(t, err)
		require.Equal(t, string(key), string(k))
		if want.Value != nil {
			var c bytes.Buffer
			require.NoError(t, json.Compact(&c, value))
			value = c.Bytes()
		}
		require.Equal(t, string(value), string(v))
		require.True(t, want.Due.Equal(got.Due))
		require.Equal(t, want.getError(), got.getError())
		require.Equal(t, want.ID, got.ID)
	})
}
