package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endWithParent has the system kill the process when this one ends, however this process ends.
func endWithParent(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// killTree kills a process and all processes that it has started, and waits until these are gone.
func killTree(pid int) {
	all := tree(pid)
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, child := range all[1:] {
		for range 1000 {
			if s, ok := statOf(child); !ok || s.state == "Z" {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// tree returns a process and all its living descendants.
func tree(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(all[i]) + "/task/*/children")
		for _, name := range tasks {
			text, _ := os.ReadFile(name)
			for _, child := range strings.Fields(string(text)) {
				if pid, err := strconv.Atoi(child); err == nil {
					all = append(all, pid)
				}
			}
		}
	}
	return all
}

type stat struct {
	state string
	cpu   time.Duration // CPU time of the process and of the children for which it has waited
}

// userHz is the number of ticks in a second of CPU time in /proc, on all of Go's architectures.
const userHz = 100

func statOf(pid int) (stat, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may have spaces
	fields := strings.Fields(rest)
	const firstTime, times = 11, 4 // utime, stime, cutime, cstime
	s := stat{state: fields[0]}
	for _, field := range fields[firstTime : firstTime+times] {
		ticks, _ := strconv.ParseInt(field, 10, 64)
		s.cpu += time.Duration(ticks) * time.Second / userHz
	}
	return s, true
}

// cpuOf returns the CPU time that a process and its children have taken.
func cpuOf(pid int) (all time.Duration) {
	for _, pid := range tree(pid) {
		s, _ := statOf(pid)
		all += s.cpu
	}
	return all
}

// memoryOf returns the memory of a process and its children. Memory that they share is counted once.
func memoryOf(pid int) (all int64) {
	for _, pid := range tree(pid) {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
		for line := range strings.Lines(string(text)) {
			if size, ok := strings.CutPrefix(line, "Pss:"); ok {
				kilobytes, _ := strconv.ParseInt(strings.Fields(size)[0], 10, 64)
				all += kilobytes << 10
			}
		}
	}
	return all
}

// busyCPU returns the CPU time that all programs of the machine have taken.
func busyCPU() (all time.Duration) {
	text, _ := os.ReadFile("/proc/stat")
	first, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(first) {
		if i == 4 || i == 5 || i > 7 { // idle time, waiting for a disk, and time that other fields include
			continue
		}
		ticks, _ := strconv.ParseInt(field, 10, 64) // the first field is a name
		all += time.Duration(ticks) * time.Second / userHz
	}
	return all
}

// ownCPU returns the CPU time that this process has taken.
func ownCPU() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
