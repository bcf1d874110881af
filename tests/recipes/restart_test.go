package recipes

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// reminder is a pending timer in a file.
type reminder struct {
	Key, Text string
	Due       time.Time
}

// save stops the wheel, and writes what was pending to a file.
func save(w *hierarchy.Keyed[string, string], name string) error {
	var all []reminder
	w.DrainEntries(func(key string, e hierarchy.Entry[string]) {
		all = append(all, reminder{key, e.Value, e.Due})
	})
	w.Stop()
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o600)
}

// load sets again what save has written. What fell due meanwhile fires at once.
func load(w *hierarchy.Keyed[string, string], name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var all []reminder
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, r := range all {
		if err := w.SetAt(r.Key, r.Text, r.Due); err != nil {
			return err
		}
	}
	return nil
}

// fileOfReminders names the file for the process that TestRestart starts.
const fileOfReminders = "EPICYCLE_REMINDERS"

// TestReminders is the process that TestRestart starts. It sets reminders if there is no file
// yet, or loads it, and saves what is pending when it is told to end.
func TestReminders(t *testing.T) {
	name := os.Getenv(fileOfReminders)
	if name == "" {
		t.Skip("TestRestart starts this test in a process of its own")
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	w, err := hierarchy.NewKeyed(hierarchy.Config{}, func(key, text string) { fmt.Println("fired", key, text) })
	require.NoError(t, err)
	if err := load(w, name); os.IsNotExist(err) {
		require.NoError(t, w.Set("tea", "is ready", time.Millisecond))
		require.NoError(t, w.Set("bread", "is burnt", time.Hour))
		require.NoError(t, w.Set("year", "is over", 24*365*time.Hour))
	} else {
		require.NoError(t, err)
	}
	fmt.Println("begun")
	<-end
	require.NoError(t, save(w, name))
	fmt.Println("saved")
}

// A process is told to end, and another goes on with its timers: those that fell due in
// between fire at once, and the others when they are due.
func TestRestart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SIGTERM is not delivered there")
	}
	name := filepath.Join(t.TempDir(), "reminders.json")
	before := time.Now()
	first := startReminders(t, name)
	first.requireSays("fired tea is ready")
	after := time.Now()
	first.end()
	saved, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NotContains(t, string(saved), "tea")
	anHourPasses(t, name, before, after) // nobody is there when the bread is due
	second := startReminders(t, name)
	second.requireSays("fired bread is burnt")
	second.end()
	saved, err = os.ReadFile(name)
	require.NoError(t, err)
	require.NotContains(t, string(saved), "bread")
	require.Contains(t, string(saved), "year")
}

// anHourPasses makes all reminders in the file due an hour earlier. The bread was set between two
// times, to an hour later.
func anHourPasses(t *testing.T, name string, before, after time.Time) {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	var all []reminder
	require.NoError(t, json.Unmarshal(text, &all))
	for i := range all {
		all[i].Due = all[i].Due.Add(-time.Hour)
		if all[i].Key == "bread" {
			require.False(t, all[i].Due.Before(before.Round(0)) || all[i].Due.After(after), "due at %v", all[i].Due)
		}
	}
	text, err = json.Marshal(all)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, text, 0o600))
}

type remindersProcess struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	said  map[string]bool
}

func startReminders(t *testing.T, name string) *remindersProcess {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestReminders$")
	cmd.Env = append(os.Environ(), fileOfReminders+"="+name)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	p := &remindersProcess{t, cmd, bufio.NewScanner(out), map[string]bool{}}
	p.requireSays("begun")
	return p
}

// requireSays waits until the process has printed a line.
func (p *remindersProcess) requireSays(line string) {
	p.t.Helper()
	for !p.said[line] {
		require.True(p.t, p.lines.Scan(), "the process has ended")
		p.said[p.lines.Text()] = true
	}
}

func (p *remindersProcess) end() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.requireSays("saved")
	require.NoError(p.t, p.cmd.Wait())
}
