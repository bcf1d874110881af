package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

func exportCommand(std streams) *cobra.Command {
	var prefix string
	c := &cobra.Command{
		Use: "export [FILE]", Short: "Write all timers as lines of JSON", Args: cobra.MaximumNArgs(1),
		Long: "Write all timers as lines of JSON, with all that they have, and a last line with their number. Without FILE, or with\n" +
			"-, they go to the standard output. FILE is replaced once all of them are there.",
	}
	c.Flags().StringVar(&prefix, "prefix", "", "only those whose keys begin with it")
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) error {
		resp, err := r.client.Open(c.Context(), http.MethodGet, "/v1/export?"+url.Values{"prefix": {prefix}}.Encode(), nil)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		count := &counter{progress: terminal.New(std.err, os.Getenv).Progress("timers", -1)}
		copyTo := func(w io.Writer) error {
			defer count.progress.End()
			_, err := io.Copy(w, io.TeeReader(resp.Body, count))
			return err
		}
		if len(args) == 0 || args[0] == "-" {
			return copyTo(std.out)
		}
		if err := writeWhole(args[0], copyTo); err != nil {
			return err
		}
		return r.counted("exported", max(0, count.n-1)) // the last line is not a timer
	})
}

// counter counts lines.
type counter struct {
	n        int
	progress *terminal.Progress
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += bytes.Count(b, []byte("\n"))
	c.progress.At(c.n)
	return len(b), nil
}

// counted prints the number of timers that were exported or imported.
func (r *remote) counted(what string, n int) error {
	return r.print(map[string]int{what: n}, func() error {
		_, err := fmt.Fprintln(r.std.out, n, what)
		return err
	})
}

// writeWhole writes a file. It replaces an existing file only once the new file is complete.
func writeWhole(name string, write func(io.Writer) error) (err error) {
	part, err := os.OpenFile(name+".part", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(write(part), part.Sync()); err == nil {
		err = part.Close()
	} else {
		part.Close()
	}
	if err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(part.Name()))
	}
	return err
}

func importCommand(std streams) *cobra.Command {
	var partial bool
	c := &cobra.Command{
		Use: "import [FILE]", Short: "Import what export or salvage has written", Args: cobra.MaximumNArgs(1),
		Long: "Import what export or salvage has written. Keys that are there are replaced. Without FILE, or with -, it is the\n" +
			"standard input. If the last line, with the number of timers, is missing, all others are imported, and that is an error.",
	}
	c.Flags().BoolVar(&partial, "partial", false, "a part of an export, or other lines, without a last line that has their number")
	return remoteCommand(std, c, func(r *remote, c *cobra.Command, args []string) error {
		in, size := std.in, int64(-1)
		if len(args) > 0 && args[0] != "-" {
			file, err := os.Open(args[0])
			if err != nil {
				return usageError("%w", err)
			}
			defer file.Close()
			if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
				size = info.Size() / unit
			}
			in = file
		}
		progress := terminal.New(std.err, os.Getenv).Progress("KB", int(size))
		defer progress.End()
		body := io.TeeReader(in, &sent{progress: progress})
		resp, err := r.client.Open(c.Context(), http.MethodPost, "/v1/import?"+url.Values{"partial": {strconv.FormatBool(partial)}}.Encode(), body)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		progress.End()
		var out struct{ Imported int }
		if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
			return err
		}
		return r.counted("imported", out.Imported)
	})
}

// unit is the unit in which the progress of an import is counted, so that it fits into a 32-bit int.
const unit = 1 << 10

// sent counts the bytes that were sent.
type sent struct {
	n        int64
	progress *terminal.Progress
}

func (s *sent) Write(b []byte) (int, error) {
	s.n += int64(len(b))
	s.progress.At(int(s.n / unit))
	return len(b), nil
}
