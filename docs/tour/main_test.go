package main

import (
	"bytes"
	"errors"
	"flag"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal/terminaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want options
	}{
		{nil, options{}},
		{[]string{"-short"}, options{short: true}},
		{[]string{"-http", ":1"}, options{http: ":1"}},
		{[]string{"--short", "--http=localhost:0"}, options{short: true, http: "localhost:0"}},
	} {
		got, err := parse(c.args)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	_, err := parse([]string{"-h"})
	require.True(t, errors.Is(err, flag.ErrHelp))
}

// TestBadUsage checks that bad arguments are reported with the usage, and that the tour
// does not begin.
func TestBadUsage(t *testing.T) {
	terminaltest.BadUsage(t, run, "tour", usage, map[string]string{
		"-fast":       "-fast",
		"now":         `"now"`,
		"-short now":  `"now"`,
		"-short=maid": "maid",
		"-http":       "-http",
		"-http=":      "-http needs an address",
	})
}

func TestHelp(t *testing.T) { terminaltest.Help(t, run, usage) }

// TestAddressInUse checks that an address that can't be used is reported before the tour,
// not after it.
func TestAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	at := taken.Addr().String()
	var out, errs bytes.Buffer
	require.Equal(t, terminal.ExitFailed, run([]string{"-short", "-http", at}, &out, &errs))
	require.Empty(t, out.String())
	require.Contains(t, errs.String(), "tour: -http "+at+" can't be served: ")
	require.Equal(t, 1, strings.Count(errs.String(), "\n"))
}
