package clients

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/clients/go"
)

type Order struct {
	ID int `json:"id"`
}

// work is what docs/service.md shows.
func work(ctx context.Context, cancel func(key string, order Order) error) error {
	client, err := epicycle.New("", epicycle.Options{})
	if err != nil {
		return err
	}
	if _, err := client.Set(ctx, "order-17", Order{ID: 17}, 30*time.Minute, epicycle.Queue("orders")); err != nil {
		return err
	}
	if _, _, err := client.Move(ctx, "order-17", 10*time.Millisecond); err != nil {
		return err
	}
	return client.Work(ctx, "orders", epicycle.Worker{Concurrency: 10}, func(_ context.Context, f epicycle.Firing) error {
		var order Order
		if err := f.Decode(&order); err != nil {
			return err
		}
		return cancel(f.Key, order)
	})
}

func TestDocsGo(t *testing.T) {
	t.Setenv("EPICYCLE_SERVER", serve(t))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	require.NoError(t, work(ctx, func(key string, order Order) error {
		require.Equal(t, "order-17", key)
		require.Equal(t, Order{17}, order)
		stop()
		return nil
	}))
	client, err := epicycle.New("", epicycle.Options{})
	require.NoError(t, err)
	defer client.Close()
	_, ok, err := client.Get(t.Context(), "order-17")
	require.NoError(t, err)
	require.False(t, ok)
}

var snippet = regexp.MustCompile("(?s)<!-- with the client: (\\w+) -->\n```\\w+\n(.*?)```")

// What docs/service.md shows of the other clients is a program that works, and ends in order at SIGTERM.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../../../../docs/service.md")
	require.NoError(t, err)
	found := snippet.FindAllStringSubmatch(string(page), -1)
	require.Len(t, found, 2)
	for _, one := range found {
		name, code := one[1], one[2]
		t.Run(name, func(t *testing.T) {
			file := map[string]string{"python": "testdata/example.py", "typescript": "testdata/example.ts"}[name]
			whole, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Contains(t, string(whole), code)
			args, env, reason := programs()[name]()
			if reason != "" {
				t.Skip(reason)
			}
			for i, arg := range args {
				if strings.HasPrefix(arg, "testdata/driver") {
					args = append(args[:i], file)
					break
				}
			}
			runExample(t, args, append(env, "EPICYCLE_SERVER="+serve(t)))
		})
	}
}

func runExample(t *testing.T, args, env []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "cancel order-17 17\n", line)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
}
