package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// One of so many requests lasts until its time is over.
const slowEach = 100

var errAnswer = errors.New("the answer is not what it must be")

// get makes requests on each connection, again and again. Few goroutines do that, so that the client takes little of the
// processors.
func (d *dialed) get(rounds int) (answer, error) {
	var mu sync.Mutex
	var all getter
	begun := time.Now()
	err := shares(talkers, *d, func(some []net.Conn) error {
		g := getter{reader: bufio.NewReader(nil)}
		err := g.get(some, rounds)
		mu.Lock()
		defer mu.Unlock()
		all.took, all.expired = append(all.took, g.took...), all.expired+g.expired
		return err
	})
	if err != nil {
		return answer{}, err
	}
	slices.Sort(all.took)
	return answer{
		N: len(all.took) + all.expired, Took: time.Since(begun),
		Late: figures.Quantile(all.took, 0.99), Expired: all.expired,
	}, nil
}

// getter is a goroutine that makes requests.
type getter struct {
	reader  *bufio.Reader
	took    []time.Duration // by requests that need no time
	expired int             // requests that have lasted until their time was over
}

func (g *getter) get(some []net.Conn, rounds int) error {
	for range rounds {
		for _, c := range some {
			if err := g.one(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *getter) one(c net.Conn) error {
	if (len(g.took)+g.expired)%slowEach == slowEach-1 {
		took, err := g.ask(c, slowPath, http.StatusGatewayTimeout)
		if g.expired++; err == nil && took < shortTimeout {
			err = fmt.Errorf("%w: a timeout %w", errAnswer, errEarly)
		}
		return err
	}
	took, err := g.ask(c, "/", http.StatusOK)
	g.took = append(g.took, took)
	return err
}

func (g *getter) ask(c net.Conn, path string, want int) (time.Duration, error) {
	begun := time.Now()
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return 0, err
	}
	g.reader.Reset(c)
	a, err := http.ReadResponse(g.reader, nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, a.Body)
	if err == nil && a.StatusCode != want {
		err = fmt.Errorf("%w: %s", errAnswer, a.Status)
	}
	return time.Since(begun), err
}
