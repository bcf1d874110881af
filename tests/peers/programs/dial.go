package main

import (
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// dialed are the connections of a client's process.
type dialed []net.Conn

// Numbers of goroutines of a client's process.
const (
	dialers = 64
	talkers = 16
)

// dial connects n times.
func (d *dialed) dial(addresses []string, n int) (answer, error) {
	*d = make([]net.Conn, n)
	err := shares(dialers, *d, func(some []net.Conn) error {
		for i := range some {
			c, err := net.Dial("tcp", addresses[i%len(addresses)])
			if err != nil {
				return err
			}
			some[i] = c
		}
		return nil
	})
	return answer{N: n}, err
}

// shares calls f in goroutines, each with a share of all.
func shares(goroutines int, all []net.Conn, f func(some []net.Conn) error) error {
	var g errgroup.Group
	for some := range slices.Chunk(all, (len(all)+goroutines-1)/goroutines) {
		g.Go(func() error { return f(some) })
	}
	return g.Wait()
}

// echo sends a message on each connection, again and again, and reads the answers.
func (d *dialed) echo(rounds int) (answer, error) {
	var mu sync.Mutex
	var took []time.Duration
	begun := time.Now()
	err := shares(talkers, *d, func(some []net.Conn) error {
		mine, err := echoOn(some, rounds)
		mu.Lock()
		defer mu.Unlock()
		took = append(took, mine...)
		return err
	})
	if err != nil {
		return answer{}, err
	}
	slices.Sort(took)
	return answer{N: len(took), Took: time.Since(begun), Late: figures.Quantile(took, 0.99)}, nil
}

func echoOn(some []net.Conn, rounds int) (took []time.Duration, err error) {
	var text [messageSize]byte
	for range rounds {
		for _, c := range some {
			begun := time.Now()
			if _, err := c.Write(text[:]); err != nil {
				return nil, fmt.Errorf("%w: %w", errSlow, err)
			}
			if _, err := io.ReadFull(c, text[:]); err != nil {
				return nil, fmt.Errorf("%w: %w", errSlow, err)
			}
			took = append(took, time.Since(begun))
		}
	}
	return took, nil
}
