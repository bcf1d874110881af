package main

import (
	"context"
	"time"
)

// A program does the same work in several ways.
type program struct {
	name   string // for -only
	what   string // what it is, with %s for how many there are
	unit   string // what the processor time is for
	each   string // what the bytes are for; empty if memory is not measured
	late   string // what the 99 % of the tables are of
	full   size
	quick  size
	work   func(size) int // how much work must be done; nil if it depends on the time
	module string         // whose copy is built with our packages for the ways that are ours; empty if there is none
	ways   []way          // the one that its page recommends of ours is the first of ours
}

// size is how much a program does.
type size struct {
	N        int           // connections, keys, timers
	Rounds   int           // how often it does something with each
	Lifetime time.Duration // of an idle connection or a key, or how long the program runs
}

// way is one way of doing a program's work.
type way struct {
	name string
	ours bool
	// run does the work, and checks that it was done. An error means that the figures are worth nothing.
	run func(ctx context.Context, s size) (result, error)
}

// result is what one run has measured. What is zero was not measured.
type result struct {
	N     int           // of things; fewer than size.N if this machine does not allow them
	Work  int           // units of work done
	Took  time.Duration // for the work
	CPU   time.Duration // for the work
	Bytes float64       // live bytes of each thing
	Late  time.Duration // 99 % are at most so late
	GC    time.Duration // the shortest of some full collections
	Sum   uint64        // of what has come out, where that is the same in all ways
}

// programs returns all programs, in the order of the page.
func programs() []program {
	return []program{
		tcpProgram(),
		memoryProgram(),
		httpProgram(),
		proxyProgram(),
		cacheProgram(),
		pacingProgram(),
		gameProgram(),
		simulationProgram(),
		slaProgram(),
		gozeroProgram(),
		raftProgram(),
		memberlistProgram(),
		quicProgram(),
		quicIdleProgram(),
	}
}

func named(name string) (program, bool) {
	for _, p := range programs() {
		if p.name == name {
			return p, true
		}
	}
	return program{}, false
}

func (p program) way(name string) (way, bool) {
	for _, w := range p.ways {
		if w.name == name {
			return w, true
		}
	}
	return way{}, false
}

// scaled returns the full size with fewer things. Rates stay.
func (p program) scaled(scale float64) size {
	s := p.full
	if p.each != "" {
		s.N = max(p.quick.N, int(scale*float64(s.N)))
	}
	return s
}
