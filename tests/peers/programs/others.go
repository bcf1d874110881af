package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// A busy machine has other figures than an idle one. watchOthers returns a function that says how much of the machine
// other programs have taken since, where the system tells.
func watchOthers() func() string {
	begun, busy, ours := time.Now(), busyCPU(), cpuOfAll()
	return func() string {
		others := busyCPU() - busy - (cpuOfAll() - ours)
		if busy == 0 {
			return ""
		}
		return fmt.Sprintf(" Meanwhile other programs took %.1f of %d cores.",
			max(0, float64(others)/float64(time.Since(begun))), runtime.NumCPU())
	}
}

// busyCPU is the processor time that all programs have taken since the system's start, or 0.
func busyCPU() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	var user, nice, system int64
	if _, err := fmt.Fscanf(strings.NewReader(string(text)), "cpu %d %d %d", &user, &nice, &system); err != nil {
		return 0
	}
	return time.Duration(user+nice+system) * (10 * time.Millisecond)
}
