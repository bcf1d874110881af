package command

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/api"
)

// salvage reads damaged files.
type salvage struct {
	std       streams
	dir, name string
	out       string

	timers, problems, foreign int
}

func salvageCommand(std streams) *cobra.Command {
	s := &salvage{std: std}
	c := &cobra.Command{
		Use: "salvage [FILE.seg...]", Short: "Read what can be read of a damaged directory",
		Long: "Read what can be read of a damaged directory, or of its files logs/NAME/*.seg, and write it as lines, which\n" +
			"import reads. Nothing is changed, and no server may have the directory open. What is wrong goes to the standard\n" +
			"error; then the exit code is 1.",
		Example: "  epicycle salvage -dir ./timers -out timers.jsonl",
		RunE:    func(_ *cobra.Command, args []string) error { return s.run(args) },
	}
	c.Flags().SortFlags = false
	c.Flags().StringVar(&s.dir, "dir", "", "the `directory` of the timers")
	c.Flags().StringVar(&s.name, "name", "", "only timers of this `name`")
	c.Flags().StringVar(&s.out, "out", "", "write to this `file` instead of the standard output")
	return c
}

func (s *salvage) run(from []string) (err error) {
	if (s.dir == "") == (len(from) == 0) {
		return usageError("salvage needs either -dir or files")
	}
	if s.dir != "" {
		from = []string{s.dir}
	}
	write := func(w io.Writer) error { return s.write(w, from) }
	if s.out == "" {
		err = write(s.std.out)
	} else {
		err = writeWhole(s.out, write)
	}
	if err != nil {
		return &exit{failed, err}
	}
	fmt.Fprintf(s.std.err, "%d timers\n", s.timers)
	if s.foreign > 0 {
		fmt.Fprintf(s.std.err, "%d of them were not set by this service: import does not read them\n", s.foreign)
	}
	if s.problems > 0 {
		return &exit{notFound, fmt.Errorf("%d things are wrong", s.problems)}
	}
	return nil
}

func (s *salvage) write(w io.Writer, from []string) error {
	out := bufio.NewWriter(w)
	err := durable.Salvage(api.NewLineWriter(out, s.line), s.name, s.tell, from...)
	return errors.Join(err, out.Flush())
}

// line converts a line to a line of the service. If that fails, it returns the line unchanged.
func (s *salvage) line(stored []byte) ([]byte, error) {
	line, err := api.Line(stored)
	if err != nil {
		s.foreign++
		return append(stored, '\n'), nil //nolint:nilerr // a line that can't be converted must not be lost
	}
	return line, nil
}

// tell prints what was found in one log.
func (s *salvage) tell(one durable.Salvaged) error {
	s.timers += one.Timers
	s.problems += len(one.Problems)
	log := cmp.Or(one.Name, "a log without a name")
	fmt.Fprintf(s.std.err, "%s: %d timers, %d dead, %d uncertain\n", log, one.Timers, one.Dead, one.Uncertain)
	for _, p := range one.Problems {
		fmt.Fprintf(s.std.err, "%s: %s\n", log, p)
	}
	if n := len(one.Lost); n > 0 {
		fmt.Fprintf(s.std.err, "%s: %d timers have no value\n", log, n)
	}
	return nil
}
