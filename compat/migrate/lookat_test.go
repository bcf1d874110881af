package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What has to be looked at is told, with its line. Each line below is followed by what is said about it, if anything.
func TestNotes(t *testing.T) {
	const (
		same        = ": who calls or implements it must import the same package"
		user        = ": who uses it must import the same package"
		constructor = ": ours can't be used without its constructor"
	)
	lines := []struct{ code, note string }{
		{`type Clock interface{ NewTicker(clock.Duration) *clock.Ticker }`, "a Ticker in a signature" + same},
		{`func pointer(*clock.Timer) {}`, "a Timer in a signature" + same},
		{`func slice([]*clock.Timer) {}`, "a Timer in a signature" + same},
		{`func variadic(...*clock.Timer) {}`, "a Timer in a signature" + same},
		{`func array([2]clock.Timer) {}`, "a Timer in a signature" + same},
		{`func values(map[string]*clock.Timer) {}`, "a Timer in a signature" + same},
		{`func keys() map[*clock.Timer]int { return nil }`, "a Timer in a signature" + same},
		{`func channel(<-chan *clock.Ticker) {}`, "a Ticker in a signature" + same},
		{`func function(func(clock.Duration) (*clock.Timer, error)) {}`, "a Timer in a signature" + same},
		{`func arguments(list[*clock.Timer]) {}`, "a Timer in a signature" + same},
		{`func constraint[T *clock.Timer | *clock.Ticker](T) {}`, "a Timer in a signature" + same + "|a Ticker in a signature" + same},
		{`var inner = func(*clock.Timer) {}`, "a Timer in a signature" + same},
		{`type set interface{ *clock.Timer | ~int }`, "a Timer in a type set: who instantiates it must import the same package"},
		{`type named clock.Timer`, "a Timer has a name here" + user},
		{`type alias = []*clock.Ticker`, "a Ticker has a name here" + user},
		{`type open struct { T []*clock.Timer }`, "a Timer in an exported field" + user},
		{`type embeds struct { *clock.Timer }`, "a Timer in an exported field" + user},
		{`type factory struct { New func() *clock.Timer }`, "a Timer in a signature" + same},
		{`type closed struct { t *clock.Timer; ts []*clock.Timer }`, ""},
		{`type holds struct { t clock.Timer }`, "a Timer in a struct, not a pointer" + constructor},
		{`func zero(t *timer) bool { return *t == clock.Timer{} }`, "a literal Timer" + constructor},
		{`var list1 = []*clock.Timer{}`, ""},
		{`var fresh = new(clock.Timer)`, "a Timer that is new: ours can't be used without its constructor"},
		{`func assert(x any) { _ = x.(*clock.Timer) }`, "a Timer in a type assertion: one of package time does not match"},
		{`func asserts(x any) { switch x.(type) { case int, *clock.Ticker: } }`, "a Ticker in a type switch: one of package time does not match"},
		{`var typ = reflect.TypeFor[*clock.Timer]()`, "a Timer as a type argument: what it is compared with must be of the same package"},
		{`var pair = two[int, clock.Timer]()`, "a Timer as a type argument: what it is compared with must be of the same package"},
		{`var converted = (*clock.Timer)(nil)`, "a Timer in a conversion: one of package time can't be converted"},
		{`var stop = (*clock.Timer).Stop`, "a method of Timer as a function: who calls it must import the same package"},
		{`var newTimer = clock.NewTimer`, "NewTimer as a value: it returns ours"},
		{`var Tick *clock.Ticker`, "a Ticker in an exported variable" + user},
		{`var Timer = clock.NewTimer(1)`, "what NewTimer returns in an exported variable" + user},
		{`func init() { clock.Local = clock.UTC }`, "Local is assigned to: assign to that of package time, and use that, since ours does not follow"},
		{`var local = &clock.Local`, "the address of Local: what is assigned through it does not change that of package time"},
		{`var plain = clock.NewTimer(clock.Second)`, ""},
		{`var pointers atomic.Pointer[clock.Timer]`, ""},
		{`func plainer(at clock.Time, in *clock.Location) { <-clock.After(clock.Until(at)); _ = clock.Local }`, ""},
		{`var other = &net.Local`, ""},
	}
	code := "package a\n\nimport clock \"time\"\n"
	var want []string
	for i, line := range lines {
		code += line.code + "\n"
		for note := range strings.SplitSeq(line.note, "|") {
			if note != "" {
				want = append(want, fmt.Sprintf("a.go:%d: %s", 4+i, note))
			}
		}
	}
	f, err := rewrite("a.go", []byte(code), there)
	require.NoError(t, err)
	require.Equal(t, want, f.notes)
}

func TestNotesOfDotImport(t *testing.T) {
	f, err := rewrite("a.go", []byte("package a\n\nimport . \"time\"\n\nvar d Duration\n"), there)
	require.NoError(t, err)
	require.Equal(t, []string{`a.go:1: package time is imported with ".": look at each Timer and Ticker`}, f.notes)
}

// Nobody needs to look at anything on the way back, or if only package context changes.
func TestNotesOnlyAboutTime(t *testing.T) {
	const code = "package a\n\nimport \"context\"\nimport \"time\"\n\nfunc f(context.Context, *time.Timer) {}\n"
	f, err := rewrite("a.go", []byte(code), options{only: []string{"context"}})
	require.NoError(t, err)
	require.NotNil(t, f.text)
	require.Empty(t, f.notes)
}
