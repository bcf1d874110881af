// Command migrate changes the imports of packages time and context in Go files to those of compat/time and
// compat/context, or back, and nothing else in them. It prints the places to check afterwards, for example where a type
// of package time is part of a signature.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/epicycle-go/epicycle/docs/terminal"
)

const usage = `usage: migrate [-n] [-back] [path ...]

Change the imports of packages time and context in Go files to compat/time and compat/context.
A path is a file, a directory, or a directory with /... for all below it; the default is ./...
Vendored and generated files are left as they are.

  -n     only say what would change
  -back  change them back to the standard library's
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole command.
func run(args []string, stdout, stderr io.Writer) int {
	return terminal.Command[options]{Name: "migrate", Usage: usage, Parse: parse, Do: migrate}.Run(args, stdout, stderr)
}

type options struct {
	dry, back bool
	paths     []string
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("migrate", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.BoolVar(&o.dry, "n", false, "")
	f.BoolVar(&o.back, "back", false, "")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.paths = f.Args(); len(o.paths) == 0 {
		o.paths = []string{"./..."}
	}
	return o, nil
}

// migrate changes all files that o names. A file is written only after all of it was parsed.
func migrate(o options, out io.Writer) error {
	names, err := goFiles(o.paths)
	if err != nil {
		return err
	}
	changed := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := rewrite(name, text, o.back)
		if err != nil {
			return err
		}
		for _, note := range f.notes {
			fmt.Fprintln(out, note)
		}
		if f.text == nil {
			continue
		}
		changed++
		if o.dry {
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, f.text, info.Mode().Perm()); err != nil {
			return err
		}
	}
	verb := "changed"
	if o.dry {
		verb = "would change"
	}
	fmt.Fprintf(out, "%s %d of %d files\n", verb, changed, len(names))
	return nil
}
