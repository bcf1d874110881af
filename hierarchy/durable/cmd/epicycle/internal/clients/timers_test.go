package clients

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var toMails = args{"queue": "mails"}

// A timer is set, moved, found and removed, whatever its key is.
func TestTimer(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		d := start(serve(t))
		for _, key := range []string{"order-17", "a/b", "..", ".", "ä ö", "?x=1#y", "%2F", "a+b", "\n\x00"} {
			value := map[string]any{"id": 17.0, "text": "ä\u2028<"}
			timer := d.timer("set", args{"key": key, "value": value, "in": "1h", "to": toMails, "timeout": "5s"})
			require.Equal(t, key, timer["key"])
			require.Equal(t, value, timer["value"])
			require.Equal(t, "5s", timer["timeout"])
			require.Equal(t, map[string]any{"queue": "mails"}, timer["to"])
			require.Equal(t, timer, d.do("get", args{"key": key}))

			due := time.Now().Add(2 * time.Hour).UTC().Truncate(time.Microsecond)
			moved := d.timer("move", args{"key": key, "at": due.Format(time.RFC3339Nano)})
			require.Equal(t, due.Format(time.RFC3339Nano), moved["due"])
			require.NotEqual(t, timer["id"], moved["id"])
			require.NotEqual(t, moved["id"], d.timer("move", args{"key": key, "in": "3h"})["id"])
			require.Equal(t, value, d.timer("remove", args{"key": key})["value"])
			for _, do := range []string{"get", "remove", "revive"} {
				require.Nil(t, d.do(do, args{"key": key}), do)
			}
			require.Nil(t, d.do("move", args{"key": key, "in": "3h"}))
		}
		require.Equal(t, "@every 90s", d.timer("set", args{"key": "s", "schedule": "@every 90s", "to": toMails})["schedule"])
		at := d.timer("set", args{"key": "a", "at": "2100-01-02T03:04:05Z", "value": nil, "to": args{"webhook": "http://127.0.0.1:1/x"}})
		require.Equal(t, "2100-01-02T03:04:05Z", at["due"])
		require.Nil(t, at["value"])
	})
}

// A condition that is not met is told with the timer that is there.
func TestConditions(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		d := start(serve(t))
		first := d.timer("set", args{"key": "k", "value": 1, "in": "1h", "to": toMails, "if": "absent"})
		for cond, in := range map[string]string{"absent": "1m", "sooner": "2h", "later": "1m"} {
			f := d.fails("set", args{"key": "k", "value": 2, "in": in, "to": toMails, "if": cond})
			require.Equal(t, 409, f.Status)
			require.Equal(t, first, f.Timer)
		}
		require.Equal(t, 2.0, d.timer("set", args{"key": "k", "value": 2, "in": "1m", "to": toMails, "if": "sooner"})["value"])
		require.Equal(t, 3.0, d.timer("set", args{"key": "k", "value": 3, "in": "1h", "to": toMails, "if": "later"})["value"])
	})
}

// An error has what the server says.
func TestErrors(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		d := start(serve(t))
		f := d.fails("set", args{"key": "k", "in": "1h", "to": args{"queue": "mails", "webhook": "http://x"}})
		require.Equal(t, 400, f.Status)
		require.Equal(t, "Bad Request", f.Title)
		require.Contains(t, f.Detail, "exactly one of webhook")
	})
}

// All timers of a prefix are listed, page by page, and removed.
func TestMany(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		d := start(serve(t))
		var operations, removals []args
		var keys []string
		for i := range 25 {
			keys = append(keys, fmt.Sprintf("p&%02d", i))
			operations = append(operations, args{"op": "set", "key": keys[i], "value": i, "in": "1h", "to": toMails})
			removals = append(removals, args{"op": "remove", "key": keys[i]})
		}
		operations = append(operations, args{"op": "set", "key": "q", "in": "1h", "to": toMails})
		for i, result := range d.do("batch", args{"operations": operations}).([]any) {
			require.Equal(t, map[string]any{"ok": true}, result, i)
		}
		for _, limit := range []int{1, 5, 24, 25, 26} {
			var got []string
			for _, timer := range d.do("list", args{"prefix": "p&", "state": "waiting", "limit": limit}).([]any) {
				got = append(got, timer.(map[string]any)["key"].(string))
			}
			require.Equal(t, keys, got)
		}
		require.Empty(t, d.do("list", args{"state": "dead"}))
		results := d.do("batch", args{"operations": []args{
			removals[0], removals[0], {"op": "move", "key": keys[1], "in": "2h"}, {"op": "move", "key": "none", "in": "2h"},
			{"op": "set", "key": keys[2], "in": "1m", "to": toMails, "if": "absent"},
		}}).([]any)
		for i, want := range []bool{true, false, true, false, false} {
			require.Equal(t, want, results[i].(map[string]any)["ok"], i)
			require.Equal(t, !want, results[i].(map[string]any)["error"] != nil, i)
		}
		require.Equal(t, 24.0, d.do("removeAll", args{"prefix": "p&"}))
		require.Len(t, d.do("list", args{}), 1)
		require.Equal(t, 1.0, d.do("removeAll", args{"prefix": ""}))
		require.Empty(t, d.do("list", args{}))
	})
}

// A schedule is paused and resumed. What has none is not.
func TestPauses(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		d := start(serve(t))
		set := d.timer("set", args{"key": "k", "schedule": "@every 1h", "to": toMails})
		paused := d.timer("pause", args{"key": "k"})
		require.Equal(t, true, paused["paused"])
		require.Equal(t, paused, d.do("get", args{"key": "k"}))
		require.Equal(t, set, d.timer("resume", args{"key": "k"}))
		d.timer("set", args{"key": "once", "in": "1h", "to": toMails})
		for _, do := range []string{"pause", "resume"} {
			require.Nil(t, d.do(do, args{"key": "none"}))
			require.Equal(t, 409, d.fails(do, args{"key": "once"}).Status)
		}
	})
}

// A target that is set up once has what is right for it, and what is beside it is of the timer alone.
func TestTargetsOfTheirOwn(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		d := start(serve(t))
		to := args{"queue": "mails", "timeout": "7s", "retry": args{"attempts": 3, "backoff": "2s"}}
		timer := d.timer("set", args{"key": "k", "in": "1h", "to": to})
		require.Equal(t, "7s", timer["timeout"])
		require.Equal(t, map[string]any{"attempts": 3.0, "backoff": "2s"}, timer["retry"])
		f := d.fails("set", args{"key": "k", "in": "1h", "to": to, "timeout": "5s"})
		require.Equal(t, 400, f.Status)
		results := d.do("batch", args{"operations": []args{{"op": "set", "key": "l", "in": "1h", "to": to}}})
		require.Equal(t, []any{map[string]any{"ok": true}}, results)
		require.Equal(t, "7s", d.timer("get", args{"key": "l"})["timeout"])
	})
}
