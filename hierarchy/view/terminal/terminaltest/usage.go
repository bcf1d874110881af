// Package terminaltest has the tests that all commands of the project pass.
package terminaltest

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// Run is a whole command.
type Run func(args []string, stdout, stderr io.Writer) int

// BadUsage checks that bad arguments are reported with the usage, and that the command does not start. bad maps each
// line of arguments to the text that the report must contain.
func BadUsage(t *testing.T, run Run, name, usage string, bad map[string]string) {
	t.Helper()
	for args, want := range bad {
		var out, errs bytes.Buffer
		require.Equal(t, terminal.ExitUsage, run(strings.Fields(args), &out, &errs), args)
		require.Empty(t, out.String(), args)
		require.True(t, strings.HasPrefix(errs.String(), name+": "), errs.String())
		require.Contains(t, errs.String(), want)
		require.Contains(t, errs.String(), usage)
	}
}

// Help checks that the command shows its usage when it is called with -h or -help.
func Help(t *testing.T, run Run, usage string) {
	t.Helper()
	var out, errs bytes.Buffer
	require.Equal(t, terminal.ExitOK, run([]string{"-help"}, &out, &errs))
	require.Equal(t, usage, out.String())
	require.Empty(t, errs.String())
}
