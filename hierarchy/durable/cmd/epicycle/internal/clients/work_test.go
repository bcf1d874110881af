package clients

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Firings that were taken are done or fail.
func TestTake(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		d := start(serve(t))
		take := func() map[string]any {
			all := d.do("take", args{"queue": "m/q", "max": 10, "wait": "20s"}).([]any)
			require.Len(t, all, 1)
			return all[0].(map[string]any)
		}
		require.Empty(t, d.do("take", args{"queue": "m/q", "max": 10, "wait": "0s"}))
		set := d.timer("set", args{"key": "k", "value": "hello", "in": "10ms", "to": args{"queue": "m/q"}})
		first := take()
		require.Equal(t, set["id"], first["id"])
		require.Equal(t, "hello", first["value"])
		require.Equal(t, 1.0, first["attempt"])
		failed := d.do("fail", args{"queue": "m/q", "tokens": []any{first["token"]}, "error": "no server of mail"}).([]any)
		require.Equal(t, []any{map[string]any{"ok": true}}, failed)
		require.Equal(t, "no server of mail", d.timer("get", args{"key": "k"})["last_error"])
		second := take()
		require.Equal(t, 2.0, second["attempt"])
		require.Equal(t, set["id"], second["id"])
		results := d.do("done", args{"queue": "m/q", "tokens": []any{first["token"], second["token"]}}).([]any)
		require.Equal(t, false, results[0].(map[string]any)["ok"])
		require.Equal(t, true, results[1].(map[string]any)["ok"])
		require.Nil(t, d.do("get", args{"key": "k"}))
	})
}

const workers = 3

// A worker runs as many handlers as it may, and no more. When it is stopped, it takes nothing more, and ends once its
// handlers have returned and the server knows their results.
func TestWork(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		d := start(serve(t))
		var all []args
		for i := range 2 * workers {
			all = append(all, args{"op": "set", "key": fmt.Sprint("k", i), "value": i, "in": "0s", "to": toMails, "timeout": "10m"})
		}
		d.do("batch", args{"operations": all})
		d.do("work", args{"queue": "mails", "concurrency": workers})
		var running []string
		begun := func() {
			e := d.event("begun")
			require.Equal(t, 1, e.Attempt)
			require.Equal(t, e.Key, fmt.Sprint("k", e.Value))
			running = append(running, e.Key)
		}
		for range workers {
			begun()
		}
		// A handler that has returned makes room for another one. The server says what has begun.
		finished := running[0]
		running = running[1:]
		d.do("finish", args{"key": finished})
		begun()
		require.Nil(t, d.do("get", args{"key": finished}))
		require.Len(t, d.do("list", args{"state": "running"}), workers)

		d.do("stop", args{})
		failing := running[0]
		d.do("finish", args{"key": failing, "error": "broken"})
		for _, key := range running[1:] {
			d.do("finish", args{"key": key})
		}
		require.Nil(t, d.event("ended").Error)
		require.Empty(t, d.events, "nothing was begun")
		var left []string
		for _, one := range d.do("list", args{"state": "waiting"}).([]any) {
			timer := one.(map[string]any)
			left = append(left, timer["key"].(string))
			if timer["key"] == failing {
				require.Contains(t, timer["last_error"], "broken")
			}
		}
		require.Len(t, left, workers, "one that has failed, and those that were not taken")
		require.True(t, slices.Contains(left, failing))
		require.Len(t, d.do("list", args{}), workers)
	})
}

// A worker that waits for firings ends at once. The firings that come then are for others.
func TestIdleWorkerEnds(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		d := start(serve(t))
		d.do("work", args{"queue": "mails", "concurrency": workers})
		d.timer("set", args{"key": "a", "in": "10ms", "to": toMails})
		d.event("begun")
		d.do("finish", args{"key": "a"})
		d.do("stop", args{})
		require.Nil(t, d.event("ended").Error)
		d.timer("set", args{"key": "b", "in": "0s", "to": toMails})
		require.Len(t, d.do("take", args{"queue": "mails", "max": 1, "wait": "20s"}), 1)
		require.Empty(t, d.events)
	})
}

// A worker ends with the error of a server that hands out nothing to it.
func TestRefusedWorkerEnds(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		d := start(serve(t))
		d.do("work", args{"queue": strings.Repeat("q", 251), "concurrency": 1})
		require.Equal(t, 400, d.event("ended").Error.Status)
	})
}
