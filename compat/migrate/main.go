// Command migrate changes the imports of packages time and context in Go files to those of compat/time and
// compat/context, or back, and nothing else in them. It changes all files or, if one of them can't be changed, none. It
// prints what it has changed and skipped, and the places to look at afterwards, for example where a type of package
// time is part of a signature.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

const usage = `usage: migrate [-n] [-back] [-only packages] [-skip-bad] [path ...]

Change the imports of packages time and context in Go files to compat/time and compat/context.
A path is a file, a directory, or a directory with /... for all below it; the default is ./...
If a file can't be read or parsed, or is read-only, no file is changed.

Left as they are: generated files, files with the line //epicycle:keep above the package clause,
symbolic links, nested modules, and what the go command leaves out of ./... (vendor, testdata,
names that begin with . or _). A path that names a link, module or directory includes it.

  -n         only say what would change
  -back      change them back to the standard library's
  -only      change only the imports of these packages: time, context, or both as time,context
  -skip-bad  leave files that can't be read or parsed, or are read-only, and change the others
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole command.
func run(args []string, stdout, stderr io.Writer) int {
	return terminal.Command[options]{Name: "migrate", Usage: usage, Parse: parse, Do: migrate}.Run(args, stdout, stderr)
}

type options struct {
	dry, back, skipBad bool
	only               []string // the packages whose imports are changed
	paths              []string
}

// packages are those that compat has a package for.
var packages = []string{"time", "context"}

func parse(args []string) (o options, err error) {
	o.only = packages
	f := flag.NewFlagSet("migrate", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.BoolVar(&o.dry, "n", false, "")
	f.BoolVar(&o.back, "back", false, "")
	f.BoolVar(&o.skipBad, "skip-bad", false, "")
	f.Func("only", "", func(list string) error {
		o.only = strings.Split(list, ",")
		for _, name := range o.only {
			if !slices.Contains(packages, name) {
				return fmt.Errorf("%q is neither time nor context", name)
			}
		}
		return nil
	})
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.paths = f.Args(); len(o.paths) == 0 {
		o.paths = []string{"./..."}
	}
	return o, nil
}

// migrate changes the files that o names.
func migrate(o options, out io.Writer) error {
	tree, err := goFiles(o.paths)
	if err != nil {
		return err
	}
	files, err := plan(tree.names, o)
	if err == nil && !o.dry {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err = replace(ctx, files, os.Rename)
	}
	if err != nil {
		return err
	}
	report(out, o, files, tree.skipped)
	return nil
}
