package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// binaries are the paths of compiled tests.
type binaries struct {
	hierarchy, own string
}

// build compiles the tests of both packages into dir, so that each benchmark can run in a
// process of its own without being built again.
func build(ctx context.Context, o options, dir string) (binaries, error) {
	b := binaries{hierarchy: filepath.Join(dir, "hierarchy.test"), own: o.own}
	if err := compile(ctx, o.root, "./hierarchy", b.hierarchy); err != nil {
		return b, err
	}
	if b.own != "" {
		return b, nil
	}
	b.own = filepath.Join(dir, "own.test")
	return b, compile(ctx, filepath.Join(o.root, "tests", "peers"), "./performance", b.own)
}

// compile compiles the tests of pkg, from the directory of its module.
func compile(ctx context.Context, module, pkg, to string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", to, pkg)
	cmd.Dir, cmd.Stderr = module, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go test -c %s: %w", pkg, err)
	}
	return nil
}

// errNoBenchmark is for a renamed benchmark: go test succeeds if no benchmark matches.
var errNoBenchmark = errors.New("there is no such benchmark")

// run returns the output of the benchmark.
func (b binaries) run(ctx context.Context, j job) ([]byte, error) {
	path := b.hierarchy
	if j.own {
		path = b.own
	}
	cmd := exec.CommandContext(ctx, path,
		"-test.run=^$", "-test.bench="+j.pattern(), "-test.benchtime="+j.time, "-test.timeout=10m")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", j.benchmark, err, &out)
	}
	if !bytes.Contains(out.Bytes(), []byte("Benchmark"+j.String())) {
		return nil, fmt.Errorf("%w: %v", errNoBenchmark, j.benchmark)
	}
	return out.Bytes(), nil
}

// measure runs all jobs in each round and writes their output to raw.
func measure(ctx context.Context, o options, raw, progress io.Writer) error {
	dir, err := os.MkdirTemp("", "performance")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := build(ctx, o, dir)
	if err != nil {
		return err
	}
	for round := range o.plan.rounds {
		for _, j := range o.plan.jobs() {
			fmt.Fprintf(progress, "round %d of %d: %v\n", round+1, o.plan.rounds, j.benchmark)
			printed, err := b.run(ctx, j)
			if err != nil {
				return err
			}
			for _, why := range unmeasured(printed) {
				fmt.Fprintf(progress, "%v: %s\n", j.benchmark, why)
			}
			if _, err := raw.Write(printed); err != nil {
				return err
			}
		}
	}
	return nil
}

// unmeasured returns what benchmarks have logged of what they could not measure.
func unmeasured(printed []byte) (why []string) {
	for line := range strings.Lines(string(printed)) {
		if _, what, ok := strings.Cut(line, ": not measured: "); ok {
			why = append(why, "not measured: "+strings.TrimSpace(what))
		}
	}
	return why
}
