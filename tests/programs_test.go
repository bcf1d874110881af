package tests

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The columns of the table in docs/programs.md, which a command writes.
const (
	programCPU   = "CPU of each"
	programBytes = "bytes"
	programLate  = "99 %"
	programGC    = "full GC"
)

// A claim compares two ways of a program. The ratio of the first to the second must be within bounds.
type claim struct {
	text         string // of the page
	program      string
	column       string
	first, other string // ways, as in the table
	least, most  float64
}

var claims = []claim{
	{"It takes the least memory", "tcp", programBytes, "SetReadDeadline", "time.AfterFunc, Reset", 0.85, 1},
	{"It takes the least memory", "tcp", programBytes, "SetReadDeadline", idleWay, 0.85, 1},
	{"`NewIdle` takes about as much of everything", "tcp", programBytes, idleWay, "SetReadDeadline", 0.9, 1.15},
	{"`NewIdle` takes about as much of everything", "tcp", programCPU, idleWay, "SetReadDeadline", 0.7, 1.35},
	{"`Keyed` takes half as much memory again", "tcp", programBytes, "Keyed.Set, Move", "SetReadDeadline", 1.3, 1.7},
	{"less processor time with `NewIdle`", "memory", programCPU, idleWay, "time.AfterFunc, Reset", 0, 1},
	{"Memory is the same", "memory", programBytes, idleWay, "time.AfterFunc, Reset", 0.95, 1.05},
	{"contexts are a small part of a request", "http", programCPU, "compat/context", "package context", 0.8, 1.25},
	{"the same, of a request that takes more", "proxy", programCPU, "compat/context", "package context", 0.75, 1.25},
	{"a third of the memory", "cache", programBytes, "Keyed", "map, time.AfterFunc", 0.25, 0.4},
	{"less than a third of the time", "cache", programGC, "Keyed", "map, time.AfterFunc", 0, 0.33},
	{"otter also takes little memory", "cache", programBytes, "otter", "map, time.AfterFunc", 0, 0.5},
	{"its keys go up to a second late", "cache", programLate, "Keyed", "otter", 0, 0.5},
	{"many times the processor time", "pacing", programCPU, "Wheel.Every", "time.Ticker", 3, 50},
	{"keeps each event near its time", "pacing", programLate, "Wheel.Every", "time.Ticker", 0, 0.6},
	{"In bursts of a millisecond it costs little", "pacing", programCPU, "Wheel.Every, 1 ms", "Wheel.Every", 0, 0.3},
	{"ticks of a wheel take more processor time", "game", programCPU, "Wheel.NewTicker", "time.Ticker", 1, 5},
	{"a `Driven` takes about as much time as a heap", "simulation", programCPU, "Driven", "container/heap", 0.6, 1.3},
	{"and more memory", "simulation", programBytes, "Driven", "container/heap", 1.05, 2},
	{"A mock clock takes longest", "simulation", programCPU, "Of on clock.Mock", "container/heap", 1, 3},
	{"any way will do", "sla", programCPU, "Wheel.AfterFunc", "time.AfterFunc", 0.6, 1.3},
	{"idle connections are closed within a tenth of the time", "memory", programLate, idleWay, "time.AfterFunc, Reset", 0, 0.1},
	{"are a third as late", "game", programLate, "Wheel.NewTicker", "time.Ticker", 0.2, 0.5},
	{"takes half of the processor time", "gozero", programCPU, "compat.Cache", "go-zero, collection.Cache", 0.3, 0.6},
	{"a third of the memory. go-zero's", "gozero", programBytes, "compat.Cache", "go-zero, collection.Cache", 0.25, 0.4},
	{"Commits take the same", "raft", programCPU, "compat/time", "package time", 0.9, 1.1},
	{"Commits take the same", "raft", programLate, "compat/time", "package time", 0.85, 1.15},
	{"a sixth more with a wheel", "memberlist", programCPU, "compat/time", "package time", 1.1, 1.25},
	{"A transfer takes the same", "quic", programCPU, "compat/time", "package time", 0.9, 1.1},
	{"a fifth more with a wheel", "quicidle", programCPU, "compat/time", "package time", 1.1, 1.3},
	{"takes less than half of the memory", "sla", programBytes, "Wheel.AfterFunc", "time.AfterFunc", 0.2, 0.5},
}

// idleWay is a way of two programs.
const idleWay = "Wheel.NewIdle, Touch"

// What README.md says about whole programs.
var readmeClaims = []claim{
	{"takes a third of the memory of a map", "cache", programBytes, "Keyed", "map, time.AfterFunc", 0.25, 0.4},
	{"less than a tenth of the time", "cache", programGC, "Keyed", "map, time.AfterFunc", 0, 0.1},
	{"less than half of what they are with a `time.Ticker`", "pacing", programLate, "Wheel.Every", "time.Ticker", 0, 0.5},
	{"less than half of what they are with a `time.Ticker`", "game", programLate, "Wheel.NewTicker", "time.Ticker", 0, 0.5},
	{"`SetReadDeadline` takes the least memory", "tcp", programBytes, "SetReadDeadline", "time.AfterFunc, Reset", 0.85, 1},
	{"`SetReadDeadline` takes the least memory", "tcp", programBytes, "SetReadDeadline", idleWay, 0.85, 1},
	{"An HTTP server gains nothing by other contexts", "http", programCPU, "compat/context", "package context", 0.9, 1.25},
	{"Ticks of a wheel take more processor time", "game", programCPU, "Wheel.NewTicker", "time.Ticker", 1, 5},
}

// What the pages say about the table of docs/programs.md holds for the figures there.
func TestPagesHoldForTheFiguresOfPrograms(t *testing.T) {
	page := read(t, "../docs/programs.md")
	table := programTable(t, page)
	requireHold(t, table, page, claims)
	requireHold(t, table, read(t, "../README.md"), readmeClaims)
}

// requireHold requires that a page has the claims, and that they hold for the figures.
func requireHold(t *testing.T, table map[string]map[string]map[string]string, page string, claims []claim) {
	t.Helper()
	text := strings.Join(strings.Fields(page), " ")
	for _, c := range claims {
		require.Contains(t, text, c.text)
		first, other := table[c.program][c.first], table[c.program][c.other]
		require.NotNil(t, first, "%s, %s", c.program, c.first)
		require.NotNil(t, other, "%s, %s", c.program, c.other)
		ratio := quantity(t, first[c.column]) / quantity(t, other[c.column])
		require.GreaterOrEqual(t, ratio, c.least, "%q: %s, %s beside %s", c.text, c.column, c.first, c.other)
		require.LessOrEqual(t, ratio, c.most, "%q: %s, %s beside %s", c.text, c.column, c.first, c.other)
	}
}

// Each program of the table has a paragraph that says what its figures mean.
func TestProgramsPageExplainsEachProgram(t *testing.T) {
	page := read(t, "../docs/programs.md")
	for program := range programTable(t, page) {
		require.Contains(t, page, "\n- **"+program+"**: ")
	}
}

// programTable returns the cells by program, way and column.
func programTable(t *testing.T, page string) map[string]map[string]map[string]string {
	const head = "\n| program | way |"
	require.Contains(t, page, head)
	lines := strings.Split(page[strings.Index(page, head)+1:], "\n")
	columns := cells(t, lines[0], "|")
	table, program := map[string]map[string]map[string]string{}, ""
	for _, line := range lines[2:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		row := cells(t, line, "|")
		if name, _, ok := strings.Cut(strings.TrimPrefix(row[1], "**"), "**: "); ok {
			program = name
			table[program] = map[string]map[string]string{}
		}
		way := strings.Trim(row[2], "*")
		table[program][way] = map[string]string{}
		for i, column := range columns {
			table[program][way][column] = row[i]
		}
	}
	return table
}

// quantity returns a number, or a time in seconds.
func quantity(t *testing.T, cell string) float64 {
	number, unit, _ := strings.Cut(cell, " ")
	if unit != "" {
		d, err := time.ParseDuration(number + unit)
		require.NoError(t, err, cell)
		return d.Seconds()
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	require.NoError(t, err, cell)
	return v
}
