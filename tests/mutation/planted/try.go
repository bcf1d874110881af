package planted

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// trial is one run of the command. It tries the bugs one after the other.
type trial struct {
	code    *tree
	scratch string           // directory of the overlay files
	sound   map[string]error // by module and arguments of go test: nil if the tests pass without a bug
}

// tryAll tries all bugs and prints the result of each.
func tryAll(root string, bugs []bug) error {
	scratch, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	t := &trial{code: newTree(root), scratch: scratch, sound: map[string]error{}}
	begin, tried, failed := time.Now(), 0, 0
	for _, b := range bugs {
		if b.os != "" && b.os != runtime.GOOS {
			fmt.Printf("skipped   %-36s is on %s only\n", b.name, b.os)
			continue
		}
		tried++
		if !t.report(b) {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d bugs were not caught", failed, tried)
	}
	fmt.Printf("all %d bugs were caught, in %.0f s\n", tried, time.Since(begin).Seconds())
	return nil
}

// report tries b, prints the result, and reports whether b was caught.
func (t *trial) report(b bug) (caught bool) {
	begin := time.Now()
	v, err := t.try(b)
	seconds := time.Since(begin).Seconds()
	switch {
	case err != nil:
		fmt.Printf("BROKEN    %s\n", indented(err.Error()))
	case !v.failed:
		fmt.Printf("SURVIVED  %-36s %5.1f s  %s (go test %s)\n", b.name, seconds, b.about, strings.Join(b.test, " "))
	default:
		fmt.Printf("caught    %-36s %5.1f s  %s\n", b.name, seconds, v.by())
	}
	return err == nil && v.failed
}

// try runs b's tests without the bug, and then with the bug. It leaves out the first run if another bug has the same
// tests and has had that run.
func (t *trial) try(b bug) (verdict, error) {
	file, code, err := b.mutant(t.code)
	if err != nil {
		return verdict{}, err
	}
	if err := t.passes(b); err != nil {
		return verdict{}, fmt.Errorf("%s: without the bug: %w", b.name, err)
	}
	overlay, err := t.overlay(b, file, code)
	if err != nil {
		return verdict{}, err
	}
	v, err := t.goTest(b.tests(t.code.root), append([]string{"-failfast", "-overlay", overlay}, b.test...))
	if err != nil {
		err = fmt.Errorf("%s: %w", b.name, err)
	}
	return v, err
}

// passes returns an error unless b's tests pass without a bug. Bugs with the same tests
// share one run.
func (t *trial) passes(b bug) error {
	module := b.tests(t.code.root)
	key := module + "\x00" + strings.Join(b.test, "\x00")
	if err, known := t.sound[key]; known {
		return err
	}
	v, err := t.goTest(module, append([]string{"-timeout=10m"}, b.test...)) // enough for a slow machine
	switch {
	case err != nil:
	case v.failed:
		err = errors.New("fails " + v.by())
	case v.ran == 0:
		err = fmt.Errorf("go test %s runs no test", strings.Join(b.test, " "))
	}
	t.sound[key] = err
	return err
}

// overlay writes an overlay that makes the go command compile code instead of the content of file.
func (t *trial) overlay(b bug, file, code string) (name string, err error) {
	mutant := filepath.Join(t.scratch, b.name+".go")
	if err := os.WriteFile(mutant, []byte(code), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{file: mutant}})
	if err != nil {
		return "", err
	}
	name = filepath.Join(t.scratch, b.name+".json")
	return name, os.WriteFile(name, text, 0o600)
}

// goTest runs go test in the directory of a module. The arguments override the flags set
// here.
func (t *trial) goTest(module string, arguments []string) (verdict, error) {
	test := exec.Command("go", append([]string{"test", "-json", "-vet=off", "-count=1", "-timeout=60s"}, arguments...)...)
	test.Env = append(os.Environ(), "EPICYCLE_LONG=1")
	test.Dir = filepath.Join(t.code.root, filepath.FromSlash(module))
	out, err := test.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return verdict{}, err
	}
	return judge(string(out), err != nil)
}

// moduleRoot returns the root of the module in which the command is run.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

func indented(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n          ")
}
