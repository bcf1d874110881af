package api

import (
	"encoding/json"
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
	} {
		f.Add([]byte(body))
	}
	a := &API{Config: Config{Subjects: true}}
	f.Fuzz(func(t *testing.T, body []byte) {
		var in Setting
		if decode(body, &in) != nil {
			return
		}
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
	})
}

// The same for batches and tokens, which have bodies of their own.
func FuzzOthers(f *testing.F) {
	f.Add([]byte(`{"operations":[{"op":"set","key":"a","in":"1s","to":{"queue":"q"}},{"op":"move","key":"a","at":"2030-01-31T12:00:00Z"}]}`))
	f.Add([]byte(`{"tokens":["a","b"],"error":"c"}`))
	f.Add([]byte(`{"max":1,"wait":"20s"}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		var batch batchInput
		if decode(body, &batch.Body) == nil {
			for i := range batch.Body.Operations {
				op := &batch.Body.Operations[i]
				_, _ = (&API{}).setting(op.Key, &op.Setting, op.If)
				_, _ = (&Moving{op.In, op.At}).parse()
			}
		}
		var end endInput
		_ = decode(body, &end.Body)
		var take takeInput
		_ = decode(body, &take.Body)
	})
}
