package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/memberlist"
)

const memberlistLibrary = "github.com/hashicorp/memberlist"

// memberlistProgram is a cluster in one process, in which nothing happens but that nodes ask each other whether they live.
func memberlistProgram() program {
	return program{
		name:   "memberlist",
		what:   "hashicorp/memberlist, %s idle nodes in memory",
		unit:   "second of a node",
		full:   size{N: 20, Lifetime: 5 * time.Second},
		quick:  size{N: 5, Lifetime: time.Second},
		work:   func(s size) int { return s.N * int(s.Lifetime/time.Second) },
		module: memberlistLibrary,
		ways:   libraryWays(memberlistLibrary, runMemberlist),
	}
}

var errMembers = errors.New("a node does not know all others")

func runMemberlist(_ context.Context, size size) (f result, err error) {
	nodes, err := newMembers(size.N)
	defer func() {
		for _, n := range nodes {
			err = errors.Join(err, n.Shutdown())
		}
	}()
	if err != nil {
		return f, err
	}
	m := newMeter()
	time.Sleep(size.Lifetime)
	m.stop(&f, size.N*int(size.Lifetime/time.Second))
	f.N = size.N
	for _, n := range nodes {
		if n.NumMembers() != size.N {
			return f, errMembers
		}
	}
	return f, nil
}

// newMembers starts nodes, each of which joins the first.
func newMembers(n int) (nodes []*memberlist.Memberlist, err error) {
	var network memberlist.MockNetwork
	for i := range n {
		name := fmt.Sprint("node", i)
		c := memberlist.DefaultLANConfig()
		c.Name, c.Transport, c.LogOutput = name, network.NewTransport(name), io.Discard
		m, err := memberlist.Create(c)
		if err != nil {
			return nodes, err
		}
		nodes = append(nodes, m)
		first := nodes[0].LocalNode()
		if _, err := m.Join([]string{first.Name + "/" + first.Address()}); i > 0 && err != nil {
			return nodes, err
		}
	}
	return nodes, nil
}
