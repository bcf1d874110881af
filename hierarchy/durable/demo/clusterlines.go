package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

const (
	timeWide  = 9
	rateWide  = 10
	showEvery = time.Second
	barOfRate = 24
)

// event prints that something happens.
func (d *clusterDemo) event(text string) {
	d.Line(terminal.Indent + terminal.Left(d.time(), timeWide) + d.Paint(terminal.Yellow, text))
	if len(d.events) == 0 && d.shown == "" {
		d.Line(d.Paint(terminal.Faint, terminal.Indent+terminal.Left("", timeWide)+
			terminal.Left("owner of each log", 20)+terminal.Right("fired/s", rateWide)))
	}
}

func (d *clusterDemo) time() string { return fmt.Sprintf("%4.1f s", time.Since(d.begun).Seconds()) }

// look prints a line each second, and whenever the owner of a log has changed.
func (d *clusterDemo) look() {
	owners := strings.Join(d.owners(), " ")
	if owners == "" || d.finishing && owners != d.shown { // workers that end give up all partitions
		return
	}
	since := time.Since(d.second)
	if owners == d.shown && since < showEvery {
		return
	}
	line := terminal.Indent + terminal.Left(d.time(), timeWide) + terminal.Left(owners, 20)
	if since >= showEvery/4 { // otherwise the rate means little
		d.rate = float64(d.fired) / since.Seconds()
		d.fired, d.second = 0, time.Now()
		line += terminal.Right(terminal.Count(int(d.rate)), rateWide) + "  " +
			d.Paint(terminal.Green, terminal.Bar(int(d.rate), d.fullRate(), barOfRate))
	}
	d.shown = owners
	d.Line(line)
}

// fullRate returns the rate of the longest bar.
func (d *clusterDemo) fullRate() int {
	const most = 1500
	return max(most, int(d.rate))
}
