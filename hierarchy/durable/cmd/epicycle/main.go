// Command epicycle serves durable timers over HTTP, and is a client of such a server. docs/service.md describes it.
package main

import (
	"os"
	_ "time/tzdata" // schedules have time zones, and a container image may lack their data

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/command"
)

func main() { os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
