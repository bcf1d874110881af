package terminal

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommand(t *testing.T) {
	c := Command[string]{
		Name: "name", Usage: "how to use it\n",
		Parse: func(args []string) (string, error) {
			switch {
			case len(args) == 0:
				return "", errors.New("too few arguments")
			case args[0] == "-h":
				return "", flag.ErrHelp
			}
			return args[0], nil
		},
		Do: func(o string, stdout io.Writer) error {
			fmt.Fprintln(stdout, o)
			if o == "fails" {
				return errors.New("it fails")
			}
			return nil
		},
	}
	for _, test := range []struct {
		args        []string
		code        int
		out, errors string
	}{
		{nil, ExitUsage, "", "name: too few arguments\n\nhow to use it\n"},
		{[]string{"-h"}, ExitOK, "how to use it\n", ""},
		{[]string{"works"}, ExitOK, "works\n", ""},
		{[]string{"fails"}, ExitFailed, "fails\n", "name: it fails\n"},
	} {
		var out, errs bytes.Buffer
		require.Equal(t, test.code, c.Run(test.args, &out, &errs), test.args)
		require.Equal(t, test.out, out.String())
		require.Equal(t, test.errors, errs.String())
	}
}
