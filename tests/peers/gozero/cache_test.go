package gozero

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// onBothCaches runs a scenario on both caches. The goroutines of go-zero's cache never
// end, so the scenario can't run in a bubble, and no time passes in it.
func onBothCaches(t *testing.T, scenario func(t *testing.T, i implementation, c cache)) {
	for _, i := range []implementation{goZero, epicycle} {
		t.Run(i.name, func(t *testing.T) {
			c, err := i.cache(time.Hour, 2)
			require.NoError(t, err)
			defer closeCache(c)
			scenario(t, i, c)
		})
	}
}

func closeCache(c cache) {
	if c, ok := c.(interface{ Close() }); ok {
		c.Close()
	}
}

// TestTakeIsNotStale deletes or sets a value while it is fetched. Go-zero overwrites the
// change with the fetched value, which is older.
func TestTakeIsNotStale(t *testing.T) {
	onBothCaches(t, func(t *testing.T, i implementation, c cache) {
		value, err := c.Take("deleted", func() (any, error) {
			old := "old"
			c.Del("deleted") // as after a change of the stored value
			return old, nil
		})
		require.NoError(t, err)
		require.Equal(t, "old", value)
		_, kept := c.Get("deleted")
		require.Equal(t, i.name == goZero.name, kept)

		_, err = c.Take("set", func() (any, error) {
			old := "old"
			c.Set("set", "new")
			return old, nil
		})
		require.NoError(t, err)
		value, _ = c.Get("set")
		require.Equal(t, map[string]any{goZero.name: "old", epicycle.name: "new"}[i.name], value)
	})
}

// TestCachesAgree tests what both caches do in the same way.
func TestCachesAgree(t *testing.T) {
	onBothCaches(t, func(t *testing.T, _ implementation, c cache) {
		get := func(key string) any {
			value, ok := c.Get(key)
			return fmt.Sprint(value, ok)
		}
		require.Equal(t, "<nil> false", get("a"))
		c.Set("a", 1)
		c.SetWithExpire("b", 2, time.Minute)
		require.Equal(t, "1 true", get("a"))
		c.Set("c", 3) // evicts b, which was used before a
		require.Equal(t, "<nil> false", get("b"))
		require.Equal(t, "1 true", get("a"))
		c.Del("a")
		c.Del("a")
		require.Equal(t, "<nil> false", get("a"))
		c.SetWithExpire("never", nil, 0)
		require.Equal(t, "<nil> true", get("never"))

		value, err := c.Take("taken", func() (any, error) { return 4, nil })
		require.Equal(t, 4, value)
		require.NoError(t, err)
		value, err = c.Take("taken", func() (any, error) { panic("fetched twice") })
		require.Equal(t, 4, value)
		require.NoError(t, err)
		value, err = c.Take("failed", func() (any, error) { return 5, os.ErrNotExist })
		require.Nil(t, value)
		require.ErrorIs(t, err, os.ErrNotExist)
		require.Equal(t, "<nil> false", get("failed"))
	})
}

// inBubbles runs a scenario with each implementation in a bubble, and returns what it
// says by the implementation's name. Each bubble has a process of its own, and ends
// with that: go-zero's cache never ends its goroutines.
func inBubbles(t *testing.T, scenario func(t *testing.T, i implementation) string) map[string]string {
	said := make(map[string]string)
	for _, i := range []implementation{goZero, epicycle} {
		if os.Getenv(inChild) == i.name {
			synctest.Test(t, func(t *testing.T) {
				fmt.Println(scenario(t, i))
				os.Exit(0)
			})
		}
	}
	for _, i := range []implementation{goZero, epicycle} {
		child := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.timeout", "1m")
		child.Env = append(os.Environ(), inChild+"="+i.name)
		output, err := child.CombinedOutput()
		require.NoError(t, err, "%s", output)
		said[i.name] = strings.TrimSpace(string(output))
	}
	return said
}

func TestExpiry(t *testing.T) {
	require.Equal(t, map[string]string{
		goZero.name:   "early: true, gone at once: true, gone forever: true, waits: true, turns off: true",
		epicycle.name: "early: false, gone at once: false, gone forever: false, waits: false, turns off: false",
	}, inBubbles(t, expiry))
}

func expiry(t *testing.T, i implementation) string {
	c, err := i.cache(30*time.Minute, 0)
	require.NoError(t, err)
	has := func(key string) bool {
		synctest.Wait()
		_, ok := c.Get(key)
		return ok
	}

	time.Sleep(500 * time.Millisecond)
	c.SetWithExpire("early", nil, 2700*time.Millisecond) // at least 2565 ms, whatever the jitter
	time.Sleep(2500 * time.Millisecond)
	early := !has("early")

	c.Set("at once", "first")
	c.SetWithExpire("at once", "second", 500*time.Millisecond)
	atOnce := !has("at once")

	c.SetWithExpire("forever", nil, 10*time.Second)
	c.SetWithExpire("forever", nil, 0)
	time.Sleep(time.Minute)
	forEver := !has("forever")

	return fmt.Sprintf("early: %v, gone at once: %v, gone forever: %v, waits: %v, turns off: %v",
		early, atOnce, forEver, waits(c), turnsOff(c) > 0)
}

// waits reports whether a Take that follows a Del waits for the fetch of an earlier Take.
func waits(c cache) bool {
	release := make(chan struct{})
	fetches := 0
	take := func() {
		_, _ = c.Take("taken", func() (any, error) {
			fetches++
			<-release
			return nil, nil
		})
	}
	go take()
	synctest.Wait()
	c.Del("taken")
	go take()
	synctest.Wait()
	close(release)
	synctest.Wait()
	return fetches == 1
}

// turnsOff sets a thousand keys for half an hour each, and sets each again at some time
// in the first 25 minutes. It counts the keys that expire four minutes or more before or
// after half an hour from then. The jitter is 90 seconds, and a turn five minutes.
func turnsOff(c cache) (n int) {
	const keys = 1000
	r := rand.New(rand.NewPCG(1, 2))
	key := func(i int) string { return fmt.Sprint("key ", i) }
	setAgain := make([]int, keys) // in seconds
	for i := range setAgain {
		setAgain[i] = 1 + r.IntN(25*60)
		c.Set(key(i), nil)
	}
	for second := range 70 * 60 {
		for i, at := range setAgain {
			if second == at {
				c.Set(key(i), nil)
			}
			early, late := at+26*60, at+34*60
			if second == early || second == late {
				if _, ok := c.Get(key(i)); ok != (second == early) {
					n++
				}
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
	}
	return n
}
