// Command durablepeers compares durable timers with systems that others use for timers: asynq on Redis, River on
// PostgreSQL, dq of go-queue on beanstalkd, and the message schedules of NATS.
//
//	cd tests/peers/durablepeers && go run .
//
// It starts the servers itself, with temporary directories and ports of this machine. Systems that are not installed
// are left out. With -out it writes all tables into measured.txt, and some of their columns into docs/durable-peers.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/zeromicro/go-zero/core/logx"
)

// options are the options of the command line.
type options struct {
	only  string
	scale float64
	page  string
	whole string
}

func main() {
	runIfChild()
	logx.Disable() // go-zero logs its use of CPU once a minute
	o := options{whole: wholeFile}
	flag.StringVar(&o.only, "only", "", "run only the scenarios and systems whose names contain one of these `words`, as in schedule,kill:asynq,durable")
	flag.Float64Var(&o.scale, "scale", 1, "of numbers of timers and of times: 0.01 takes a minute and proves little")
	flag.StringVar(&o.page, "out", "", "write some columns into this `page`: ../../../docs/durable-peers.md; and all tables into "+wholeFile)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "durablepeers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out, progress io.Writer) error {
	r, err := measure(ctx, o, progress)
	if err != nil {
		return err
	}
	if o.page != "" {
		err = r.write(o.whole, o.page)
	} else {
		_, err = io.WriteString(out, r.markdown())
	}
	return errors.Join(append(r.failures, err)...)
}

// chosen reports whether a name has one of the words of a list, or the list is empty.
func chosen(list, name string) bool {
	for word := range strings.SplitSeq(list, ",") {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
