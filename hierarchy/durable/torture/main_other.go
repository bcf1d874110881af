//go:build !linux

// Command torture runs durable timers on a cluster with random faults. It needs Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "torture: this needs Linux: it stops processes, and compares their times by one clock")
	os.Exit(2)
}
