package limits

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestParse(t *testing.T) {
	for _, one := range []struct{ kind, name, want string }{
		{"queue", "Mails ", "queue Mails "},
		{"prefix", "a/b", "prefix a/b"},
		{"subject", "a.b", "subject a.b"},
		{"host", "Example.COM.", "host example.com"},
		{"host", "EXAMPLE.com.:8080", "host example.com:8080"},
		{"host", "10.0.0.1", "host 10.0.0.1"},
		{"host", "[::1]:80", "host ::1:80"},
		{"host", "[::1]", "host ::1"},
	} {
		s, err := Parse(one.kind, one.name)
		require.NoError(t, err)
		require.Equal(t, one.want, s.String())
	}
	for _, one := range []struct{ kind, name, err string }{
		{"queues", "x", "none of queue, host, subject and prefix"},
		{"queue", "", "the name is empty"},
		{"prefix", "\xff", "not UTF-8"},
		{"prefix", strings.Repeat("x", 1025), "1025 bytes"},
		{"host", "https://example.com", "example.com:8443"},
	} {
		_, err := Parse(one.kind, one.name)
		require.ErrorContains(t, err, one.err)
	}
	require.Equal(t, []Scope{{Host, "::1:443"}, {Host, "::1"}}, HostScopes("::1:443"))
}

func TestCheck(t *testing.T) {
	for _, l := range []Limit{{}, {Paused: true, Rate: 0.5, AtOnce: 1}, {Rate: maxRate}, {Rate: minRate}, {AtOnce: maxAtOnce}} {
		require.NoError(t, l.Check())
	}
	for _, l := range []Limit{{Rate: -1}, {Rate: math.NaN()}, {Rate: math.Inf(1)}, {Rate: minRate / 2}, {Rate: maxRate + 1}, {AtOnce: -1}, {AtOnce: maxAtOnce + 1}} {
		require.Error(t, l.Check())
	}
	require.Equal(t, "paused, 0.5 a second, 3 at once", Limit{Paused: true, Rate: 0.5, AtOnce: 3}.String())
}

func TestMeter(t *testing.T) {
	now := time.Unix(1000, 0)
	var m Meter
	require.Equal(t, math.MaxInt, m.Room(now))
	m.Set(Limit{Rate: 10, AtOnce: 2}, now)
	require.Equal(t, 1, m.Room(now), "what was not used is not made up for")
	m.Begin(now)
	require.Zero(t, m.Room(now))
	require.Equal(t, 100*time.Millisecond, m.Wait(now))
	now = now.Add(103 * time.Millisecond)
	require.Equal(t, 1, m.Room(now))
	m.Begin(now)
	require.Equal(t, 97*time.Millisecond, m.Wait(now), "an alarm that is late makes the next ones no later")
	now = now.Add(time.Second)
	require.Zero(t, m.Room(now))
	require.Zero(t, m.Wait(now), "time alone does not help")
	m.End()
	require.Equal(t, 1, m.Room(now))
	require.Equal(t, 1, m.Running())
	m.Set(Limit{Paused: true, Rate: 10, AtOnce: 2}, now)
	require.Zero(t, m.Room(now))
	require.Zero(t, m.Wait(now))
	m.Set(Limit{Rate: 0.001}, now)
	m.Begin(now)
	m.Set(Limit{Rate: 1000}, now)
	require.Equal(t, time.Millisecond, m.Wait(now), "a rate that was lower has no say any more")
	require.Equal(t, 6, m.Room(now.Add(6*time.Millisecond)), "those that are late come at once")
	require.Equal(t, 1, m.Room(now.Add(7*time.Millisecond)), "but not if they are as late as that")
	require.Equal(t, Limit{Rate: 1000}, m.Limit())
}
