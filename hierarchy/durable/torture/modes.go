//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// mode makes a run harder. Several modes can be on.
type mode struct {
	name, says string
	byName     bool // it is never drawn
	calm       bool // servers have no faults except those that modes add, since others would excuse too much

	set    func(o *options, r *rand.Rand)                      // changes what the run is like
	faults []often                                             // faults that happen only in this mode
	begins func(w *world, p plan, e *judge.Event) (end func()) // makes one of faults happen
	during func(w *world) (end func())                         // continues as long as faults happen
}

// allModes is a function, as some modes find out which modes are on.
func allModes() []mode {
	return []mode{oneWay(), routes(), slowDisk(), blackout(), crashLoop(), mute(), copies(), silent(),
		ownless(), giveUp(), clocks(), jumps(), leases(), far(), crowd(), alone()}
}

func modesUsage() string {
	var lines []string
	for _, m := range allModes() {
		line := fmt.Sprintf("                     %-10s %s", m.name, m.says)
		if m.byName {
			line += " (not drawn)"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// none means no mode, or no fault.
const none = "none"

// drawModes returns the modes that are on: those that the option names, or up to three drawn from the seed.
func (o *options) drawModes() (on []mode, err error) {
	all := allModes()
	if o.modes == none {
		return nil, nil
	}
	if o.modes != "" {
		for name := range strings.SplitSeq(o.modes, ",") {
			i := slices.IndexFunc(all, func(m mode) bool { return m.name == name })
			if i < 0 {
				return nil, fmt.Errorf("-modes %q is no mode", name)
			}
			on = append(on, all[i])
		}
		return on, nil
	}
	r := rand.New(rand.NewPCG(o.seed, 1<<33))
	all = slices.DeleteFunc(all, func(m mode) bool { return m.byName })
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:r.IntN(4)], nil
}

// harden applies the modes that are on to the options, and writes their names to o.modes.
func (o *options) harden() error {
	on, err := o.drawModes()
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(o.seed, 1<<34))
	names := []string{none}[:max(0, 1-len(on))]
	for _, m := range on {
		names = append(names, m.name)
		if m.set != nil {
			m.set(o, r)
		}
	}
	o.modes = strings.Join(names, ",")
	return nil
}

// on returns the modes of a run, after harden.
func (o *options) on() []mode {
	on, err := o.drawModes()
	if err != nil {
		panic("torture: " + err.Error())
	}
	return on
}
