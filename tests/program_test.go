package tests

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/tests/long"
)

// A program is a list of steps, decoded from bytes. It runs in two worlds: one has real
// wheels, the other a simple model. Each world writes a trace of everything that can be
// observed. The two traces must be identical.
type step struct {
	do     deed
	wheel  int           // which of the two wheels
	target int           // which timer, counted from the last one, or which key
	d      time.Duration // a delay, or how far to move the clock
	then   *step         // the step that the callback carries out
}

type deed int

const (
	set deed = iota
	setAgain
	setAt
	every
	stop
	reset
	remaining
	move // the key
	remove
	get
	drain
	misbehave
	deedsInside // a callback may carry out those before
	add         = iota - 1
	addMore
	setTime
	addNext
	jump
	stopWheel
	deeds
)

// world carries out the steps of a program.
type world interface {
	do(s step) string
	state() string
}

// run runs a program in a world and returns its trace.
func run(w world, trace *[]string, program []step) []string {
	for i, s := range program {
		*trace = append(*trace, fmt.Sprintf("%d: deed %d: %s", i, s.do, w.do(s)), w.state())
	}
	return *trace
}

// decoder decodes a program from bytes. It reads zeros after the last byte.
type decoder struct{ b []byte }

func (x *decoder) byte() int {
	if len(x.b) == 0 {
		return 0
	}
	v := x.b[0]
	x.b = x.b[1:]
	return int(v)
}

func decode(b []byte) (program []step) {
	x := &decoder{b}
	for len(x.b) > 0 && len(program) < 400 {
		program = append(program, x.step(int(deeds), 0))
	}
	return program
}

func (x *decoder) step(deeds, depth int) step {
	s := step{do: deed(x.byte() % deeds), wheel: x.byte() % 2, target: x.byte(), d: x.duration()}
	if s.do == stopWheel && s.target > 10 {
		s.do = add // stopping a wheel must be rare, as it ends most of what a program does
	}
	if s.do == every && depth > 0 {
		s.do = set // a Repeater would run for years within one step
	}
	if s.do <= every && depth < 3 && x.byte()%2 == 0 {
		then := x.step(int(deedsInside), depth+1)
		s.then = &then
	}
	return s
}

// duration decodes a duration. Most are near a power of two, since the boundaries
// between slots and circles are there.
func (x *decoder) duration() time.Duration {
	switch b := x.byte(); {
	case b < 16:
		return -time.Duration(b)
	case b < 32:
		return forever - time.Duration(x.byte())
	case b < 100:
		return time.Duration(x.byte()) // makes crowds at few instants
	default:
		return time.Duration(1)<<(b%45) + time.Duration(x.byte()%3) - 1
	}
}

func randomBytes(seed uint64, n int) []byte {
	r, b := rand.New(rand.NewPCG(seed, 77)), make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// requireSame requires that two traces are the same, and shows where they differ.
func requireSame(t *testing.T, want, got []string) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Fatalf("line %d after %q:\nwant %s\n got %s", i, want[max(0, i-6):i], want[i], got[i])
		}
	}
	require.Equal(t, len(want), len(got))
}

// judge runs b once in the model and twice on real wheels.
func judge(t *testing.T, b []byte, makeWorlds func(t *testing.T, b []byte) (model, real *book)) {
	program := decode(b)
	model, real := makeWorlds(t, b)
	want, got := run(model.world, &model.trace, program), run(real.world, &real.trace, program)
	requireSame(t, want, got)
	_, again := makeWorlds(t, b)
	requireSame(t, got, run(again.world, &again.trace, program))
	require.Equal(t, real.secrets(), again.secrets(), "Stats and Circles of two runs")
}

// book is a world and its trace.
type book struct {
	world
	trace   []string
	secrets func() string // state that the model doesn't have
	running map[int]repeating
}

// repeating is a Repeater that was not stopped.
type repeating struct {
	wheel  int
	period time.Duration
}

func newBook() *book { return &book{running: map[int]repeating{}} }

func (b *book) begin(id, wheel int, period time.Duration) { b.running[id] = repeating{wheel, period} }

func (b *book) endAll(wheel int) {
	maps.DeleteFunc(b.running, func(_ int, r repeating) bool { return r.wheel == wheel })
}

// repeat carries out a step on a Repeater.
func (b *book) repeat(s step, id int, halt func() bool, anew func(time.Duration) bool) string {
	switch r := b.running[id]; {
	case s.do == stop:
		delete(b.running, id)
		return fmt.Sprint(halt())
	case s.do == reset:
		period := s.d
		if period > 0 {
			period = max(period, r.period)
		}
		ok := anew(period)
		if ok {
			b.begin(id, r.wheel, period)
		}
		return fmt.Sprint(ok)
	}
	return "a Repeater"
}

// stride limits how far a step moves the clock. While a Repeater is active it is at most
// 50 periods, because the Repeater would otherwise run for years.
func (b *book) stride(d time.Duration) time.Duration {
	for _, r := range b.running {
		d = min(d, 50*r.period)
	}
	return d
}

func (b *book) note(format string, args ...any) {
	b.trace = append(b.trace, fmt.Sprintf(format, args...))
}

func FuzzWheel(f *testing.F) {
	f.Add(randomBytes(1, 300))
	f.Fuzz(func(t *testing.T, b []byte) { judge(t, b, wheelWorlds) })
}

func FuzzKeyed(f *testing.F) {
	f.Add(randomBytes(2, 300))
	f.Fuzz(func(t *testing.T, b []byte) { judge(t, b, keyedWorlds) })
}

func TestWheelDoesWhatTheModelDoes(t *testing.T) {
	for seed := range long.Of(150) {
		judge(t, randomBytes(seed, 600), wheelWorlds)
	}
}

func TestKeyedDoesWhatTheModelDoes(t *testing.T) {
	for seed := range long.Of(300) {
		judge(t, randomBytes(seed, 600), keyedWorlds)
	}
}
