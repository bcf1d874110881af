// Package program runs the same random program of operations through different doors to durable timers: the library in a
// directory or in a cluster, the service, and the packages that are built on the library. All must give the same answers,
// and fire the same timers at the same times.
package program

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Kind is a kind of operation.
type Kind string

// The kinds. A door that can't express one is given programs without it.
const (
	Set      Kind = "set" // with or without a condition
	Debounce Kind = "debounce"
	Schedule Kind = "schedule"
	Swap     Kind = "swap"
	Move     Kind = "move"
	Remove   Kind = "remove"
	Revive   Kind = "revive"
	Pause    Kind = "pause"
	Resume   Kind = "resume"
	Get      Kind = "get"
	Lookup   Kind = "lookup"
	List     Kind = "list"
	Batch    Kind = "batch"
)

// All are all kinds, and Batched those that can be in a Batch.
var (
	All     = []Kind{Set, Debounce, Schedule, Swap, Move, Remove, Revive, Pause, Resume, Get, Lookup, List, Batch}
	Batched = []Kind{Set, Debounce, Schedule, Move, Remove, Revive, Pause, Resume}
)

// Op is an operation.
type Op struct {
	Kind       Kind
	If         string // the condition of a Set: absent, sooner, later, or empty
	Key, Value string
	In         time.Duration
	At         bool          // it is due at the time that is In from now, instead of after In
	Longest    time.Duration // of a Debounce, whose quiet is In
	Schedule   string
	Prefix     string // of a List
	State      string // of a List, or empty
	Limit      int    // of each page of a List
	Ops        []Op   // of a Batch
	Void       bool   // the Batch is rolled back
}

// step is what happens next: first time passes, then all processes begin again, or there is an operation.
type step struct {
	pass    time.Duration
	restart bool
	op      *Op
}

// Config says what programs are like.
type Config struct {
	Kinds   []Kind // All by default
	Batched []Kind // those of them that can be in a Batch; all that can be in one of the library by default
	// Grid is what all times are multiples of, a millisecond by default. A door may take less than that for each step, as
	// times are compared by it.
	Grid        time.Duration
	MaxAttempts int
	Fresh       bool          // each timer has a key of its own
	Plain       bool          // no Set has a condition
	Apart       time.Duration // so much time passes before each operation
	Void        bool          // batches can be rolled back
	Down        time.Duration // the longest time between the end and the begin of a restart
	// Lazy is that a timer that is due at once fires only when time passes, so that operations find it. Only a mock clock can
	// do that.
	Lazy bool
	// Slow is that handlers take their time, so that operations find their attempts. Only in virtual time they can.
	Slow bool
	// Answers and Firings hide what a door does not tell. They may be nil.
	Answers func(*Op, *Answer)
	Firings func(*Firing)
}

const (
	length  = 150
	keys    = 6
	longest = 30 * time.Second
	even    = 5 * time.Second // many times are multiples of it, so that some are equal
)

var (
	conditions = []string{"", "", "absent", "sooner", "later"}
	schedules  = []string{"@every 7s", "MISSED=all */5 * * * * *", "MISSED=skip * * * * *", "0 0 1 1 *"}
	states     = []string{"", "", "waiting", "dead"}
	prefixes   = []string{"", "", "k1", "x"}
)

// source draws a program.
type source struct {
	*rand.Rand
	cfg *Config
	n   int // the operations so far
}

// steps returns the program of a seed.
func (c *Config) steps(seed uint64) (all []step) {
	s := source{Rand: rand.New(rand.NewPCG(seed, 11)), cfg: c}
	for range length {
		switch s.IntN(8) {
		case 0:
			all = append(all, step{pass: s.time(longest / 2)})
		case 1:
			down := min(c.Down, s.time(longest))
			all = append(all, step{pass: down, restart: s.IntN(2) == 0}, step{op: s.whole()})
		default:
			op := s.op(c.Kinds)
			all = append(all, step{pass: c.Apart, op: &op})
		}
	}
	return append(all, step{op: s.whole()}, step{pass: 2 * longest}, step{op: s.whole()})
}

// time returns a time of up to most.
func (s *source) time(most time.Duration) time.Duration {
	switch s.IntN(8) {
	case 0:
		return 0
	case 1, 2, 3:
		return time.Duration(s.IntN(int(most/even)+1)) * even
	}
	return time.Duration(s.IntN(int(most/s.cfg.Grid))) * s.cfg.Grid
}

func oneOf[T any](s *source, all []T) T { return all[s.IntN(len(all))] }

func (s *source) whole() *Op { return &Op{Kind: List, Limit: 1 + s.IntN(2*keys)} }

func (s *source) op(kinds []Kind) Op {
	s.n++
	kind := oneOf(s, kinds)
	if s.IntN(3) == 0 {
		kind = Set // so that the others find timers
	}
	op := Op{Kind: kind, Key: s.key(), Value: fmt.Sprint("v", s.n), In: s.time(longest), At: s.IntN(2) == 0}
	switch op.Kind {
	case Set:
		if !s.cfg.Plain {
			op.If = oneOf(s, conditions)
		}
		if s.cfg.Fresh {
			op.Key = fmt.Sprint("k", s.n)
		}
	case Debounce:
		op.In, op.Longest = op.In/2, op.In+s.cfg.Grid
	case Schedule:
		op.Schedule = oneOf(s, schedules)
	case List:
		op.Prefix, op.State, op.Limit = oneOf(s, prefixes), oneOf(s, states), 1+s.IntN(keys)
	case Batch:
		op.Void = s.cfg.Void && s.IntN(4) == 0
		for range 1 + s.IntN(5) {
			op.Ops = append(op.Ops, s.op(s.cfg.Batched))
		}
	}
	if op.At && (op.Kind == Set || op.Kind == Move) {
		op.In -= s.time(even) // so that some are in the past
	}
	return op
}

// key returns a key. If keys are not used again, it is one of the last ones.
func (s *source) key() string {
	if s.cfg.Fresh {
		return fmt.Sprint("k", max(0, s.n-s.IntN(2*keys)))
	}
	return fmt.Sprint("k", s.IntN(keys))
}
