package partition

import (
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

var record = flag.String("record", "", "write the log of TestRecordALog to this file")

// Logs that were written by releases are read for ever, and say what they said. Each version of the format adds the
// one that TestRecordALog writes then. Once it was released, none is ever changed.
func TestOldLogs(t *testing.T) {
	files, err := filepath.Glob("testdata/*.log")
	if err != nil || len(files) == 0 {
		t.Fatal("no logs: ", err)
	}
	kinds := make(map[frame.Kind]bool)
	for _, file := range files {
		b := newBench(t)
		data, err := os.ReadFile(file)
		b.NoError(err)
		var want []string
		log, last := b.disk.Open(), uint64(0)
		for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
			kind, rest, _ := strings.Cut(line, " ")
			switch kind {
			case "message":
				m, err := hex.DecodeString(rest)
				b.NoError(err)
				b.NoError(log.Append(t.Context(), last, m))
				if last++; frame.Begins(m) {
					kindsOf(b, m, kinds)
				}
			case "mark":
				var m storage.Mark
				_, err := fmt.Sscan(rest, &m.Number, &m.Checksum)
				b.NoError(err)
				b.disk.Remark(m)
			default:
				want = append(want, line)
			}
		}
		f, err := Follow(t.Context(), b.cfg.with(log))
		b.NoError(err, file)
		b.Equal(want, f.p.dump(), file)
		f.Drop()
		b.open()
		b.shut()
	}
	for k := frame.Set; !strings.HasPrefix(k.String(), "kind"); k++ {
		if !kinds[k] {
			t.Errorf("no log has a %v", k)
		}
	}
}

func kindsOf(b *bench, m []byte, kinds map[frame.Kind]bool) {
	f, err := frame.Parse(m)
	b.NoError(err)
	for op, err := range f.Ops() {
		b.NoError(err)
		kinds[op.Kind] = true
	}
}

// dump is all that was read of a log, in words.
func (p *Partition) dump() (lines []string) {
	_ = p.All(false, func(t state.Timer) bool { lines = append(lines, p.line(t)); return true })
	_ = p.All(true, func(t state.Timer) bool { lines = append(lines, p.line(t)); return true })
	slices.Sort(lines)
	return lines
}

func (p *Partition) line(t state.Timer) string {
	_, ref, _ := p.core.State.Find([]byte(t.Key))
	until, _ := p.core.State.Until(ref)
	line := fmt.Sprintf("timer %q %q id=%x/%x due=%d until=%d attempt=%d wall=%t dead=%t", t.Key, t.Value, t.ID.Owner, t.ID.Number,
		t.Due, until, t.Attempt, t.Wall, t.Dead)
	if t.LastError != "" {
		line += fmt.Sprintf(" died=%d error=%q", t.Failed, t.LastError)
	}
	if t.Schedule != "" || t.Trace != "" {
		line += fmt.Sprintf(" schedule=%q missed=%d started=%t trace=%q", t.Schedule, t.Missed, t.Started, t.Trace)
	}
	if t.Paused {
		line += " paused"
	}
	return line
}

// TestRecordALog writes a log that has every kind of operation, and what is read of it, for TestOldLogs.
func TestRecordALog(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove, b.cfg.MaxAttempts = 2000, 2
	b.cfg.KeepDead = 10 * time.Hour
	b.handle = func(_ context.Context, f core.Firing) error {
		if f.Key == "skips" && f.Attempt == 1 { // the process ends
			b.log.Close()
			b.p.writer.abandon()
		}
		if strings.HasPrefix(f.Key, "fails") || f.Key == "dead" && f.Attempt <= 2 {
			return errHandler
		}
		return nil
	}
	b.open()
	b.set("expires", "", 0)
	b.set("fails, and expires", "", 0)
	b.mock.Add(11 * time.Hour)
	b.set("stays", "a value", 1000*time.Hour)
	b.True(b.do(core.Op{Kind: frame.Set, Key: []byte("traced"), In: 1000 * time.Hour, Trace: []byte("a trace")}))
	b.schedule("once", "v", "30 * * * *")
	b.schedule("fails always", "v", "*/20 * * * *")
	b.schedule("skips", "v", "MISSED=skip 0 * * * *")
	b.schedule("all", "v", "CRON_TZ=Europe/Berlin MISSED=all 0 3 * * *")
	for _, key := range []string{"paused", "resumed"} {
		b.schedule(key, "v", "@daily")
		b.True(b.do(core.Op{Kind: frame.Pause, Key: []byte(key)}))
	}
	b.True(b.do(core.Op{Kind: frame.Resume, Key: []byte("resumed")}))
	b.setAt("wall", "", b.mock.Now().Add(2000*time.Hour))
	b.set("moved", "as it was", time.Hour)
	b.True(b.move("moved", 500*time.Hour))
	b.True(b.do(core.Op{Kind: frame.MoveAt, Key: []byte("wall"), Due: b.mock.Now().Add(2100 * time.Hour).UnixNano()}))
	b.set("removed", "", time.Hour)
	b.remove("removed")
	for _, k := range []string{"fails", "dead", "revived", "ends"} {
		b.set(k, "v", time.Minute)
	}
	b.mock.Add(time.Minute)
	b.mock.Add(time.Second)
	b.set("fails once", "v", 0)
	b.mock.Add(0)
	b.True(b.revive("fails"))
	b.True(b.do(core.Op{Kind: frame.Import, Key: []byte("imported"), Value: []byte("v"), Timer: &state.Timer{ID: frame.ID{Owner: 9, Number: 1 << 60},
		Due: b.mock.Now().Add(1000 * time.Hour).UnixNano(), Extra: state.Extra{Schedule: "@daily", Missed: 2}}}))
	call := &core.Call{Request: core.RequestID{Caller: 7, Serial: 3, Floor: 2}, Ops: []core.Op{{Kind: frame.Remove, Key: []byte("fails")}}}
	b.NoError(b.p.Do(t.Context(), call))
	b.shut()
	b.intrude("a stranger's message")
	for range 2 { // what is due after a crash is suspected
		b.open()
		b.mock.Add(0)
		b.set("suspect", "", time.Minute)
		b.crash()
		b.mock.Add(time.Hour)
	}
	b.handle = func(context.Context, core.Firing) error { return errHandler }
	b.open()
	b.mock.Add(time.Hour)
	for i := range 40 {
		b.set("often", strings.Repeat("x", 100+i), 100*time.Hour)
	}
	b.shut()
	if *record == "" {
		return
	}
	f, err := Follow(t.Context(), b.cfg.with(b.disk.Open()))
	b.NoError(err)
	defer f.Drop()
	b.NoError(os.WriteFile(*record, []byte(recorded(b, f.p)), 0o600))
}

func recorded(b *bench, p *Partition) string {
	log := b.disk.Open()
	bounds, err := log.Bounds(b.t.Context())
	b.NoError(err)
	mark, err := log.Mark(b.t.Context())
	b.NoError(err)
	var text strings.Builder
	for n := bounds.First; n <= bounds.Last; n++ {
		fmt.Fprintf(&text, "message %x\n", b.message(n))
	}
	fmt.Fprintf(&text, "mark %d %d\n", mark.Number, mark.Checksum)
	return text.String() + strings.Join(p.dump(), "\n") + "\n"
}
