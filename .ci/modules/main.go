// Command modules makes what a module proxy serves of this repository's modules at one version: go.mod files that
// require each other at that version and replace nothing, and the zips of what git then holds. It works on a clone,
// whose go.mod and go.sum files it changes and adds to git's index, and prints the tag of each module. It is a module
// of its own, so that nobody who uses Epicycle needs what it needs.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "modules:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("modules", flag.ContinueOnError)
	repo := flags.String("repo", "", "the clone; its go.mod and go.sum files are changed")
	version := flags.String("version", "", "the `version`, such as v0.2.0")
	proxy := flags.String("proxy", "", "the directory for the proxy's files")
	if err := flags.Parse(args); err != nil {
		return err
	}
	all, err := find(*repo)
	if err != nil {
		return err
	}
	ordered, err := order(all)
	if err != nil {
		return err
	}
	date, err := git(*repo, "show", "-s", "--format=%cI", "HEAD")
	if err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return err
	}
	r := release{repo: *repo, version: *version, proxy: *proxy, time: at.UTC(), sums: make(map[string]sums)}
	for _, m := range ordered {
		if err := r.publish(m); err != nil {
			return fmt.Errorf("%s: %w", m.path(), err)
		}
		fmt.Fprintln(out, m.tag(*version))
	}
	return nil
}

// git returns what a git command prints, without spaces around it.
func git(dir string, args ...string) (string, error) {
	command := exec.Command("git", args...)
	command.Dir, command.Stderr = dir, os.Stderr
	text, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(text)), nil
}
