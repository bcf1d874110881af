//go:build unix

package embedded

import (
	"fmt"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server/ats"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// BenchmarkIdle measures the CPU time of three seconds without work: of the process itself, of the
// server's clock for its caches, which ticks ten times a second while there is a stream, and of
// the server with as many streams as eight partitions have. The process itself is read by the
// server's package pse once a second.
func BenchmarkIdle(b *testing.B) {
	b.Run("impl=process/n=0", idle)
	b.Run("impl=ticks/n=0", func(b *testing.B) {
		ats.Register()
		defer ats.Unregister()
		idle(b)
	})
	for _, streams := range []int{0, 9} {
		b.Run(fmt.Sprintf("impl=server/n=%d", streams), func(b *testing.B) {
			s, err := Open(b.Context(), b.TempDir(), slog.New(slog.DiscardHandler))
			require.NoError(b, err)
			defer s.Close()
			js, err := jetstream.New(s.Conn())
			require.NoError(b, err)
			for i := range streams {
				name := fmt.Sprint("s", i)
				_, err := js.CreateStream(b.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name}})
				require.NoError(b, err)
				_, err = js.Publish(b.Context(), name, []byte("x"))
				require.NoError(b, err)
			}
			idle(b)
		})
	}
}

func idle(b *testing.B) {
	time.Sleep(2 * time.Second) // what was done before has an end
	begun := used(b)
	for range b.N {
		time.Sleep(3 * time.Second)
	}
	b.ReportMetric((used(b)-begun).Seconds()*1000/float64(b.N), "cpu-ms/3s")
}

// used is the CPU time of this process.
func used(b *testing.B) time.Duration {
	var r syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
