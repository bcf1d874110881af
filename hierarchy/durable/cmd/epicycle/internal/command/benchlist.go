package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// listers is the number of connections that list while others set timers.
const listers = 4

// preload sets many timers, and returns how long that took.
func (b *bench) preload(name string) (time.Duration, error) {
	progress := terminal.New(b.std.err, os.Getenv).Progress("set", b.timers)
	defer progress.End()
	begun := time.Now()
	for from := 0; from < b.timers; from += b.size {
		if err := b.send(http.MethodPost, "/v1/batch", b.batchBody(name, from, min(b.size, b.timers-from))); err != nil {
			return 0, err
		}
		progress.At(from)
	}
	return time.Since(begun), nil
}

// list measures lists of many timers, setting timers beside lists, and removing all of them.
func (b *bench) list() error {
	if _, err := b.preload("list"); err != nil {
		return err
	}
	among := " of " + terminal.Count(b.timers)
	last := url.Values{"prefix": {fmt.Sprint(benchPrefix, "list-", b.timers-1)}}
	for _, one := range [][2]string{{"first page", ""}, {"prefix of one", last.Encode()}, {"page of dead ones", "state=dead"}} {
		rate, h, err := b.crowd(1, func(int, int) error { return b.page(b.ctx, one[1]) })
		if err == nil {
			err = b.report(one[0]+among, rate, &h, "")
		}
		if err != nil {
			return err
		}
	}
	if err := b.besideListers(); err != nil {
		return err
	}
	begun := time.Now()
	n, err := b.removeAll()
	if err != nil {
		return err
	}
	return b.report("removing all with the prefix", float64(n)/time.Since(begun).Seconds(), nil, "timers")
}

func (b *bench) page(ctx context.Context, query string) error {
	return b.sendIn(ctx, http.MethodGet, "/v1/timers?"+query, "")
}

// besideListers measures setting timers while others list the first page all the time.
func (b *bench) besideListers() error {
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	errs := make([]error, listers)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for errs[i] == nil && ctx.Err() == nil {
				errs[i] = b.page(ctx, "")
			}
			if ctx.Err() != nil {
				errs[i] = nil
			}
		})
	}
	err := b.putAs(fmt.Sprintf("PUT, %d connections, %d list", b.conns, listers))
	stop()
	all.Wait()
	return errors.Join(append(errs, err)...)
}
