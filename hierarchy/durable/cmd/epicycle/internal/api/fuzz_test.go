package api

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// No body does harm: it is refused, or it is a timer that can be stored and comes back as it was.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		`{"in":"30m","value":{"id":17},"to":{"webhook":"http://127.0.0.1:9000/cancel"}}`,
		`{"at":"2030-01-31T12:00:00Z","to":{"queue":"mails"},"timeout":"1m"}`,
		`{"schedule":"@every 90s","to":{"subject":"a.b"},"value":null}`,
		`{"in":"-1s"}`, `{"in":1}`, `[]`, `{`, `{"in":"1s","in":"2s","to":{"queue":"q"}}`, `{"value":"\ud800"}`,
		`{"in":"1s","to":{"queue":"\ud83d\ude00\ud800"}}`, `{"in":"1s","value":` + nested(99) + `,"to":{"queue":"q"}}`,
		`{"in":"1s","value":` + nested(100) + `,"to":{"queue":"q"}}`, `{"In":"1s","IN":"2s","to":{"queue":"q"},"value":"\\\""}`,
	} {
		f.Add([]byte(body))
	}
	a := &API{Config: Config{Subjects: true}}
	f.Fuzz(func(t *testing.T, body []byte) {
		var in Setting
		if _, err := check(body, 100); err != nil || decode(body, &in) != nil {
			return
		}
		require.LessOrEqual(t, depthOf(t, body), task.MaxDepth)
		s, err := a.setting("k", &in, "")
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(s.task.Value), task.MaxValue)
		require.NoError(t, s.task.To.Check())
		require.NoError(t, task.CheckTimeout(s.task.Timeout))
		b, err := task.Codec{}.Append(nil, s.task)
		require.NoError(t, err)
		again, err := task.Codec{}.Decode(b)
		require.NoError(t, err)
		require.Equal(t, s.task, again)
		require.True(t, json.Valid(again.Value))
		whole, text := embed(again.Value)
		require.Equal(t, string(again.Value), string(whole))
		require.Empty(t, text)
	})
}

// nested returns JSON of a depth.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// depthOf returns how deep JSON is nested, as package json sees it.
func depthOf(t *testing.T, text []byte) (deepest int) {
	t.Helper()
	now := 0
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return deepest
		}
		require.NoError(t, err)
		switch token {
		case json.Delim('['), json.Delim('{'):
			now++
			deepest = max(deepest, now)
		case json.Delim(']'), json.Delim('}'):
			now--
		}
	}
}

// The same for batches and tokens, which have bodies of their own, and no more items than check has counted.
func FuzzOthers(f *testing.F) {
	f.Add([]byte(`{"operations":[{"op":"set","key":"a","in":"1s","to":{"queue":"q"}},{"op":"move","key":"a","at":"2030-01-31T12:00:00Z"}]}`))
	f.Add([]byte(`{"operations":[{"op":"set","value":[1,2,3,4]}]}`))
	f.Add([]byte(`{"operations":[0,0,0]}`))
	f.Add([]byte(`{"operations":null}`))
	f.Add([]byte(`{"tokens":["a","b"],"error":"c"}`))
	f.Add([]byte(`{"tokens":["a","b","c","d"]}`))
	f.Add([]byte(`{"max":1,"wait":"20s"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		const most = 3
		n, err := check(body, most)
		if err != nil {
			return
		}
		var batch Batch
		if decode(body, &batch) == nil {
			require.Len(t, batch.Operations, n)
			require.LessOrEqual(t, n, most)
			for i := range batch.Operations {
				op := &batch.Operations[i]
				_, _ = (&API{}).setting(op.Key, &op.Setting, op.If)
				_, _ = (&Moving{In: op.In, At: op.At}).parse()
			}
		}
		var end Ending
		if decode(body, &end) == nil {
			require.Len(t, end.Tokens, n)
			require.LessOrEqual(t, n, most)
		}
		var take Taking
		if decode(body, &take) == nil {
			_, _, _ = take.parse()
		}
	})
}
