package judge

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a worker has written is read, but for a line that was cut off.
func TestRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	w := &Recorder{Out: f}
	want := []Record{
		{Kind: IsCall, Time: 1, Caller: 3, Serial: 4, Op: OpSet, Key: "k", Value: "v", In: 5, Limit: 6},
		{Kind: IsFire, Time: 1, ID: "id", Attempt: 2, Epoch: 3, Due: 4, Over: true},
	}
	for _, r := range want {
		require.NoError(t, w.Write(r))
	}
	_, err = f.WriteString(`{"k":"en`)
	require.NoError(t, err)
	all, read, err := ReadRecords(path, 0)
	require.NoError(t, err)
	require.Equal(t, want, all)

	_, err = f.WriteString("\n")
	require.NoError(t, err)
	_, _, err = ReadRecords(path, read)
	require.ErrorContains(t, err, `{\"k\":\"en`)
	all, _, err = ReadRecords(path+"x", 0)
	require.NoError(t, err)
	require.Empty(t, all)
}

// A worker's records are joined: calls with their answers, and firings with their ends.
func TestHistory(t *testing.T) {
	var h History
	h.Add(1, []Record{
		{Kind: IsCall, Time: 1, Serial: 1}, {Kind: IsCall, Time: 2, Serial: 2}, {Kind: IsCall, Time: 3, Serial: 3},
		{Kind: IsAnswer, Serial: 2, Result: Took}, {Kind: IsAnswer, Serial: 1, Result: Refused},
		{Kind: IsFire, Time: 4, ID: "a", Attempt: 1}, {Kind: IsFire, Time: 5, ID: "a", Attempt: 2}, {Kind: IsFire, Time: 6, ID: "b", Attempt: 1},
		{Kind: IsEnd, ID: "a", Attempt: 1}, {Kind: IsEnd, ID: "a", Attempt: 2, OK: true}, {Kind: IsFailed, Error: "no"},
	})
	h.Sort()
	var results []string
	for i := range h.calls {
		results = append(results, h.calls[i].result())
	}
	require.Equal(t, []string{Refused, Took, Unknown}, results)
	var done []bool
	for i := range h.fires {
		done = append(done, h.fires[i].done())
	}
	require.Equal(t, []bool{false, true, false}, done)
	require.Equal(t, []string{"no"}, h.fails)
}

// The report of several runs has the sums.
func TestReports(t *testing.T) {
	s := newScript()
	s.set("a", 0)
	s.set("b", 100)
	s.call(OpSet, FiringKeys+"lost", "v", 0, 5, 100)
	var total Report
	total.Add(s.Judge())
	total.Add(s.Judge())
	var out bytes.Buffer
	total.Write(&out)
	require.Equal(t, 2, total.runs)
	for _, want := range []string{"6 answered, 0 unknown", "4, 0 of them again", "BROKEN: " + Lost + ": 2\n    fires/lost"} {
		require.Contains(t, out.String(), want)
	}
}
