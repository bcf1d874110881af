package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/raft"
)

const raftLibrary = "github.com/hashicorp/raft"

// raftProgram is three nodes in one process, whose heartbeats, elections and commits have timers.
func raftProgram() program {
	return program{
		name:   "raft",
		what:   "hashicorp/raft, three nodes in memory, %s commits",
		unit:   "commit",
		late:   "how long commits take",
		full:   size{N: 50_000},
		quick:  size{N: 2000},
		work:   func(s size) int { return s.N },
		module: raftLibrary,
		ways:   libraryWays(raftLibrary, runRaft),
	}
}

const raftCommitters = 64

func runRaft(ctx context.Context, size size) (f result, err error) {
	nodes, err := newRaft()
	defer func() {
		for _, n := range nodes {
			err = errors.Join(err, n.Shutdown().Error())
		}
	}()
	if err != nil {
		return f, err
	}
	leader, err := raftLeader(ctx, nodes)
	if err != nil {
		return f, err
	}
	took, m := newLateness(size.N), newMeter()
	failed := make(chan error, raftCommitters)
	for part := range raftCommitters {
		go func() {
			for i := part; i < size.N; i += raftCommitters {
				begun := time.Now()
				if err := leader.Apply([]byte("commit"), longest).Error(); err != nil {
					failed <- err
					return
				}
				took.add(time.Since(begun))
			}
			failed <- nil
		}()
	}
	for range raftCommitters {
		err = errors.Join(err, <-failed)
	}
	m.stop(&f, size.N)
	f.N = size.N
	if err != nil {
		return f, err
	}
	return f, took.wait(ctx, &f)
}

// newRaft starts three nodes that know each other.
func newRaft() (nodes []*raft.Raft, err error) {
	var all raft.Configuration
	var transports []*raft.InmemTransport
	for i := range 3 {
		address, transport := raft.NewInmemTransport("")
		transports = append(transports, transport)
		all.Servers = append(all.Servers, raft.Server{ID: raft.ServerID(fmt.Sprint(i)), Address: address})
	}
	for i, t := range transports {
		for _, other := range transports {
			t.Connect(other.LocalAddr(), other)
		}
		c := raft.DefaultConfig()
		c.LocalID, c.LogOutput, c.LogLevel = all.Servers[i].ID, io.Discard, "ERROR"
		store, snapshots := raft.NewInmemStore(), raft.NewInmemSnapshotStore()
		if err := raft.BootstrapCluster(c, store, store, snapshots, t, all); err != nil {
			return nodes, err
		}
		n, err := raft.NewRaft(c, nothing{}, store, store, snapshots, t)
		if err != nil {
			return nodes, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// raftLeader waits until a node leads.
func raftLeader(ctx context.Context, nodes []*raft.Raft) (*raft.Raft, error) {
	for ctx.Err() == nil {
		for _, n := range nodes {
			if n.State() == raft.Leader {
				return n, n.Barrier(longest).Error()
			}
		}
		time.Sleep(time.Millisecond)
	}
	return nil, ctx.Err()
}

// nothing is a state machine without a state.
type nothing struct{}

func (nothing) Apply(*raft.Log) any                 { return nil }
func (nothing) Snapshot() (raft.FSMSnapshot, error) { return nothing{}, nil }
func (nothing) Restore(r io.ReadCloser) error       { return r.Close() }
func (nothing) Persist(s raft.SnapshotSink) error   { return s.Close() }
func (nothing) Release()                            {}
