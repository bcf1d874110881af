package embedded

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// filled is the directory that a copy of this program fills up, in a way: the system refuses that
// its files grow.
const filled = "EPICYCLE_TEST_FILL"

// When a write has failed for lack of room, the server goes on as soon as there is room.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv(filled); dir != "" {
		fillUp(t, dir)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestFullDisk$")
	cmd.Env = append(os.Environ(), filled+"="+t.TempDir())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func limitFiles(t *testing.T, size uint64) {
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	limit.Cur = min(size, limit.Max)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
}

func fillUp(t *testing.T, dir string) {
	var text bytes.Buffer
	s, err := Open(context.Background(), dir, slog.New(slog.NewTextHandler(&text, nil)))
	require.NoError(t, err)
	js, err := jetstream.New(s.Conn())
	require.NoError(t, err)
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s"}})
	require.NoError(t, err)
	publish := func(i int) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		data := make([]byte, 32<<10)
		copy(data, fmt.Sprint(i))
		_, err := js.Publish(ctx, "s", data)
		return err
	}
	for i := range 10 {
		require.NoError(t, publish(i))
	}
	limitFiles(t, 400<<10)
	stored := 10
	for err == nil {
		if err = publish(stored); err == nil {
			stored++
		}
	}
	require.Less(t, stored, 13)
	for s.Problem() == nil {
		time.Sleep(time.Millisecond)
	}
	require.ErrorContains(t, s.Problem(), "the disk is full")
	require.Error(t, publish(-1))
	limitFiles(t, 1<<40)
	for err := publish(-1); err != nil; err = publish(-1) {
	}
	require.NoError(t, s.Problem())
	requireStored(t, js, stored)
	s.Close()
	require.Contains(t, text.String(), "durable: the disk is full")
	require.Contains(t, text.String(), "durable: the directory can be written again")
}

// requireStored finds the first n messages in their places.
func requireStored(t *testing.T, js jetstream.JetStream, n int) {
	stream, err := js.Stream(t.Context(), "s")
	require.NoError(t, err)
	for i := range n {
		m, err := stream.GetMsg(t.Context(), uint64(i+1))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i), string(bytes.TrimRight(m.Data, "\x00")))
	}
}
