package view

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/tests/long"
)

// browser is a Chromium that is controlled through a pipe. Messages are JSON, each followed
// by a zero byte. This needs no driver, no port and no library.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string
	last    int // id of the last call
}

// startBrowser starts a browser, or skips the test if there is none.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	long.Only(t)
	if runtime.GOOS == "windows" { // Windows can't pass pipes to a child process
		t.Skip("no browser is started")
	}
	path := findBrowser()
	if path == "" {
		t.Skip("no Chromium is in PATH")
	}
	childIn, to, err := os.Pipe()
	require.NoError(t, err)
	from, childOut, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command(path, flags(t)...)
	cmd.ExtraFiles = []*os.File{childIn, childOut} // 3 and 4, as --remote-debugging-pipe expects
	require.NoError(t, cmd.Start())
	require.NoError(t, childIn.Close())
	require.NoError(t, childOut.Close())
	killer := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() }) // which ends reading from the pipe
	b := &browser{t: t, to: to, from: bufio.NewReader(from)}
	t.Cleanup(func() {
		to.Close() // ends the browser
		cmd.Wait()
		killer.Stop()
		from.Close()
	})
	b.attach()
	return b
}

func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func flags(t *testing.T) []string {
	profile, err := os.MkdirTemp("", "view") // t.TempDir fails if the browser still writes
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(profile) })
	all := []string{
		"--headless", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-background-networking", "--user-data-dir=" + profile, "about:blank",
	}
	if os.Geteuid() == 0 {
		all = append([]string{"--no-sandbox"}, all...) // Chromium has no sandbox for root
	}
	return all
}

// attach attaches to the only page of the browser.
func (b *browser) attach() {
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	b.call("Target.getTargets", nil, &targets)
	for _, target := range targets.TargetInfos {
		if target.Type == "page" {
			var attached struct{ SessionID string }
			b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
			b.session = attached.SessionID
			b.call("Page.enable", nil, nil)
			return
		}
	}
	require.Fail(b.t, "the browser has no page")
}

// call calls a method, which must succeed.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	require.NoError(b.t, b.try(method, params, result), method)
}

// try calls a method and waits for its answer. It ignores events that come meanwhile. It
// returns the error that the browser answers.
func (b *browser) try(method string, params map[string]any, result any) error {
	b.t.Helper()
	b.last++
	message := map[string]any{"id": b.last, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	require.NoError(b.t, err)
	_, err = b.to.Write(append(text, 0))
	require.NoError(b.t, err)
	for {
		text, err := b.from.ReadBytes(0)
		require.NoError(b.t, err, "the browser has exited")
		var answer struct {
			ID     int
			Error  *struct{ Message string }
			Result json.RawMessage
		}
		require.NoError(b.t, json.Unmarshal(text[:len(text)-1], &answer))
		if answer.ID != b.last {
			continue
		}
		if answer.Error != nil {
			return errors.New(answer.Error.Message)
		}
		if result != nil {
			require.NoError(b.t, json.Unmarshal(answer.Result, result))
		}
		return nil
	}
}

func (b *browser) resize(width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// show opens a page in a window of that size and colour scheme.
func (b *browser) show(url string, width, height int, scheme string) {
	b.t.Helper()
	b.resize(width, height)
	b.call("Emulation.setEmulatedMedia", map[string]any{
		"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}},
	}, nil)
	b.call("Page.navigate", map[string]any{"url": url}, nil)
}

// text returns the value of a JavaScript expression, converted by String.
func (b *browser) text(expression string) string {
	b.t.Helper()
	value, err := b.evaluate(expression)
	require.NoError(b.t, err, expression)
	return value
}

// evaluate returns the value of a JavaScript expression, converted by String. It fails if
// the expression throws, or if another page replaces this one meanwhile.
func (b *browser) evaluate(expression string) (string, error) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value string }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	err := b.try("Runtime.evaluate", map[string]any{"expression": fmt.Sprintf("String(%s)", expression)}, &answer)
	if thrown := answer.ExceptionDetails; thrown != nil {
		err = errors.New(thrown.Exception.Description)
	}
	return answer.Result.Value, err
}

// until waits until the value of an expression is want. An expression that fails has no
// value yet: after a click on a link, the old page is being replaced.
func (b *browser) until(want, expression string) {
	b.t.Helper()
	got := ""
	var err error
	for range 1200 {
		if got, err = b.evaluate(expression); err == nil && got == want {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	require.NoError(b.t, err, expression)
	require.Equal(b.t, want, got, "%s, after a minute; errors: %s", expression, b.text(pageError))
}
