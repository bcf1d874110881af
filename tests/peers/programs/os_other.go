//go:build !unix

package main

import "time"

// Processor time is read by getrusage. Without it, the tables have none.
func cpuTime() time.Duration { return 0 }

func cpuOfAll() time.Duration { return 0 }

func mostConnections(n int) int { return n }
