package engine

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
)

// What is for another executor than Go is not left. Nor is anything if a callback of the round has ended its goroutine:
// the clock may never come to it.
func TestWhatIsNotLeft(t *testing.T) {
	pool := executor.NewPool(1)
	for name, set := range map[string]func(cfg *Config){
		"Pool":   func(cfg *Config) { cfg.IsGo, cfg.Execute, cfg.Pool = false, pool, executor.PoolOf(pool) },
		"Inline": func(cfg *Config) { cfg.IsGo, cfg.IsInline, cfg.Execute = false, true, func(task func()) { task() } },
		"own":    func(cfg *Config) { cfg.IsGo = false },
	} {
		t.Run(name, func(t *testing.T) {
			clk := &handclock.Clock{HasThen: true}
			cfg := inGoroutines(clk, 2)
			set(&cfg)
			c := newWheel(cfg)
			called := make(chan bool, 1)
			after(c, 10, func() { called <- true })
			ringAt(clk, 10)
			require.Nil(t, clk.Left)
			<-called
			require.NoError(t, c.Shutdown(t.Context()))
		})
	}
	t.Run("exit", func(t *testing.T) {
		c, clk := leaving()
		called := make(chan bool)
		setOn(c, 0, 10, func() { called <- true })
		_, err := c.Add(runtime.Goexit, c.Now(), 20, RunInWake)
		require.NoError(t, err)
		require.False(t, inGoroutine(func() { ringAt(clk, 20) }))
		require.Nil(t, clk.Left)
		<-called
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// A wheel that stays awake gives away what is due before it waits.
func TestAwakeWheelLeavesNothing(t *testing.T) {
	c, clk := leaving()
	clk.Tick = 100
	called := make(chan string, 2)
	setOn(c, 0, 10, func() { called <- "first" })
	setOn(c, 0, armCost, func() { called <- "second" })
	ringAt(clk, 10)
	require.Equal(t, "first", <-called)
	require.Empty(t, called)
	require.EqualValues(t, 2, c.aim.count())
	clk.Left()
	require.Equal(t, "second", <-called)
	require.NoError(t, c.Shutdown(t.Context()))
}
