package clients

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/command"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

// mode is the variable that makes this test binary the program epicycle, or the driver of the Go client.
const mode = "EPICYCLE_TEST_MODE"

func TestMain(m *testing.M) {
	switch os.Getenv(mode) {
	case "epicycle":
		os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case "driver":
		drive(os.Args[1], os.Args[2])
		os.Exit(0)
	}
	leak.Main(m)
}

// enough is longer than anything takes on a machine that is busy.
const enough = time.Minute

// sources is the directory of the clients.
const sources = "../../../../clients"

// each runs a scenario with each client that this machine can run.
func each(t *testing.T, scenario func(t *testing.T, start func(server string, timeout ...string) *driver)) {
	t.Helper()
	for name, program := range programs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args, env, reason := program()
			if reason != "" {
				t.Skip(reason)
			}
			scenario(t, func(server string, timeout ...string) *driver {
				t.Helper()
				return startDriver(t, args, env, append([]string{server}, append(timeout, "30")[0]))
			})
		})
	}
}

// programs returns how the drivers are started, with variables of the environment, or why they can't be.
func programs() map[string]func() (args, env []string, reason string) {
	python := func(how string) func() (args, env []string, reason string) {
		return func() (args, env []string, reason string) {
			if _, err := exec.LookPath("python3"); err != nil {
				return nil, nil, err.Error()
			}
			return []string{"python3", "-B", "testdata/driver.py", how}, []string{"PYTHONPATH=" + sources + "/python"}, ""
		}
	}
	return map[string]func() (args, env []string, reason string){
		"go": func() (args, env []string, reason string) {
			return []string{os.Args[0]}, []string{mode + "=driver"}, ""
		},
		"python":  python("sync"),
		"asyncio": python("asyncio"),
		"typescript": func() (args, env []string, reason string) {
			node, reason := nodeWithTypes()
			return []string{node, "--experimental-strip-types", "--no-warnings", "testdata/driver.ts"}, nil, reason
		},
	}
}

// nodeWithTypes returns a node that runs TypeScript, or why there is none.
func nodeWithTypes() (node, reason string) {
	node, err := exec.LookPath("node")
	if err != nil {
		return "", err.Error()
	}
	if err := exec.Command(node, "--experimental-strip-types", "--version").Run(); err != nil {
		return "", node + " does not run TypeScript: it is older than version 22"
	}
	return node, ""
}

// driver is a program that uses a client as it is told.
type driver struct {
	t       *testing.T
	in      io.WriteCloser
	answers chan answer
	events  chan event
}

type answer struct {
	Result json.RawMessage
	Error  *failure
}

// failure is an error of a client: with the fields of the server's, or of another kind.
type failure struct {
	Status              int
	Title, Detail, Kind string
	Timer               map[string]any
}

// event is that a handler has begun, or a worker has ended.
type event struct {
	Event   string
	Key     string
	Value   any
	Attempt int
	Error   *failure
}

func startDriver(t *testing.T, args, env, more []string) *driver {
	t.Helper()
	cmd := exec.Command(args[0], append(args[1:], more...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	d := &driver{t, in, make(chan answer, 1), make(chan event, 1000)}
	ended := make(chan error, 1)
	go func() {
		d.read(out)
		ended <- cmd.Wait()
	}()
	t.Cleanup(func() {
		in.Close()
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(enough):
			_ = cmd.Process.Kill()
			<-ended
			t.Error("the driver does not end")
		}
	})
	return d
}

// read reads what the driver says, until it ends.
func (d *driver) read(out io.Reader) {
	defer close(d.answers)
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var one struct {
			answer
			event
		}
		if json.Unmarshal(line, &one.event) == nil && one.Event != "" {
			d.events <- one.event
			continue
		}
		_ = json.Unmarshal(line, &one.answer)
		d.answers <- one.answer
	}
}

type args map[string]any

// begin sends a request. Its answer is read by end.
func (d *driver) begin(do string, a args) {
	d.t.Helper()
	b, err := json.Marshal(map[string]any{"do": do, "args": a})
	require.NoError(d.t, err)
	_, err = d.in.Write(append(b, '\n'))
	require.NoError(d.t, err)
}

func (d *driver) end() answer {
	d.t.Helper()
	select {
	case a, ok := <-d.answers:
		require.True(d.t, ok, "the driver has ended")
		return a
	case <-time.After(enough):
		d.t.Fatal("no answer")
		return answer{}
	}
}

// do sends a request, whose answer must be no error.
func (d *driver) do(do string, a args) (result any) {
	d.t.Helper()
	d.begin(do, a)
	got := d.end()
	require.Nil(d.t, got.Error, "%s: %+v", do, got.Error)
	require.NoError(d.t, json.Unmarshal(got.Result, &result))
	return result
}

// timer sends a request whose answer is a timer.
func (d *driver) timer(do string, a args) map[string]any {
	d.t.Helper()
	timer, ok := d.do(do, a).(map[string]any)
	require.True(d.t, ok, "there is none")
	return timer
}

// fails sends a request whose answer must be an error.
func (d *driver) fails(do string, a args) *failure {
	d.t.Helper()
	d.begin(do, a)
	got := d.end()
	require.NotNil(d.t, got.Error, string(got.Result))
	return got.Error
}

func (d *driver) event(name string) event {
	d.t.Helper()
	select {
	case e := <-d.events:
		require.Equal(d.t, name, e.Event, "%+v", e)
		return e
	case <-time.After(enough):
		d.t.Fatal("no event")
		return event{}
	}
}

// serve starts a server, and returns its URL.
func serve(t *testing.T, flags ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{
		"serve", "-listen", "127.0.0.1:0", "-allow", "127.0.0.0/8", "-grace", "100ms", "-dir", filepath.Join(t.TempDir(), "timers"),
	}, flags...)...)
	cmd.Env = append(os.Environ(), mode+"=epicycle")
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if _, after, ok := strings.Cut(lines.Text(), "address="); ok {
				after, _, _ = strings.Cut(after, " ")
				address <- after
			}
		}
		ended <- cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	select {
	case a := <-address:
		return "http://" + a
	case <-time.After(enough):
		require.NoError(t, errors.New("the server does not listen"))
		return ""
	}
}
