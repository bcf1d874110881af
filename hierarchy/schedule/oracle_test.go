package schedule_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// The years about which oracles are asked.
var oracleFirst, oracleEnd = time.Date(2005, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// spec returns what systemd calls a calendar event, with each value of r. All hours have names of their
// own, so the hour never is a * there.
func (r *rules) spec() string {
	weekdays := ""
	if listed := values(&r.weekday, 0, 6); len(listed) < 7 {
		var names []string
		for _, v := range listed {
			names = append(names, weekdayNames[v])
		}
		weekdays = strings.Join(names, ",") + " "
	}
	list := func(field *[60]bool, min, max int) string {
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(values(field, min, max)), " ", ","), "[]")
	}
	return fmt.Sprintf("%s*-%s-%s %s:%s", weekdays, list(&r.month, 1, 12), list(&r.day, 1, 31), list(&r.hour, 0, 23), list(&r.minute, 0, 59))
}

func values(field *[60]bool, min, max int) []int {
	var list []int
	for v := min; v <= max; v++ {
		if field[v] {
			list = append(list, v)
		}
	}
	return list
}

// fewRuns returns random rules with at most some thousand runs in the years of the oracles.
func fewRuns(rng *rand.Rand) *rules {
	for {
		r := randomRules(rng, true)
		perDay := len(values(&r.minute, 0, 59)) * len(values(&r.hour, 0, 23))
		if perDay*len(values(&r.month, 1, 12))*len(values(&r.day, 1, 31))*len(values(&r.weekday, 0, 6)) < 2*12*31*7 {
			return r
		}
	}
}

// shown leaves out the runs at moments at which the clock does not show a time that matches, which are
// those that a change of clocks left out. Those that it shows the second time are left out unless second.
func shown(t testing.TB, loc *time.Location, r *rules, runs []int64, second bool) []int64 {
	t.Helper()
	var left []int64
	for _, run := range runs {
		wall := run + offset(loc, run)
		if r.matches(wall) && (second || !shownBefore(loc, run)) {
			left = append(left, run)
		}
	}
	return left
}

// shownBefore reports whether the clock showed in the two days before what it shows at t.
func shownBefore(loc *time.Location, t int64) bool {
	wall := t + offset(loc, t)
	for before := t - 1800; before > t-48*3600; before -= 1800 {
		if other := wall - offset(loc, before); other < t && other+offset(loc, other) == wall {
			return true
		}
	}
	return false
}

// systemd never runs what a change leaves out, and runs a time that comes twice the first time, whatever
// the hour.
func TestNextAgreesWithSystemd(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze: apt-get install systemd")
	}
	rng, names := random(t), zones(t)
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	compared := 0
	for _, zone := range names[:few(4, len(names))] {
		for range 2 {
			r := fewRuns(rng)
			s := parse(t, "CRON_TZ="+zone+" "+r.text)
			want := shown(t, location(t, zone), r, runs(s, oracleFirst, oracleEnd), false)
			if got, ok := askSystemd(t, analyze, zone, r, len(want)+1); ok {
				requireSame(t, s, want, got)
				compared += len(want)
			}
		}
	}
	t.Logf("%d runs", compared)
}

// askSystemd returns at most so many runs in the years of the oracles. It reports false if systemd can't calculate them:
// where clocks change at 00:01, as in America/Goose_Bay until 2011, it can find itself in an infinite loop.
func askSystemd(t *testing.T, analyze, zone string, r *rules, number int) (runs []int64, ok bool) {
	cmd := exec.Command(analyze, "calendar", r.spec(), fmt.Sprint("--iterations=", number),
		"--base-time="+unix(oracleFirst-1).Format("2006-01-02 15:04:05 UTC"))
	cmd.Env = append(os.Environ(), "TZ=:"+zone, "LC_ALL=C")
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil && strings.Contains(problem.String(), "Infinite loop in calendar calculation") {
		t.Log(zone, problem.String())
		return nil, false
	}
	require.NoError(t, err, "%s: %s: %s", zone, r.spec(), problem.String())
	loc := location(t, zone)
	for line := range strings.SplitSeq(string(out), "\n") {
		name, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case text == "never":
		case name == "Next elapse", strings.HasPrefix(name, "Iter. #"): // in local time
			run, _ := time.ParseInLocation("Mon 2006-01-02 15:04:05 MST", text, loc) // fails for +1130
			runs = append(runs, run.Unix())
		case name == "(in UTC)": // the same, unless the zone is like UTC today and has a name
			run, err := time.Parse("Mon 2006-01-02 15:04:05 UTC", text)
			require.NoError(t, err)
			runs[len(runs)-1] = run.Unix()
		}
	}
	after, _ := slices.BinarySearch(runs, oracleEnd+1)
	return runs[:after], true
}

func requireSame(t *testing.T, s schedule.Schedule, want, got []int64) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			at := func(runs []int64) string {
				if i >= len(runs) {
					return "none"
				}
				return unix(runs[i]).Format(time.RFC3339)
			}
			require.Fail(t, "differs", "%s: run %d is %s, and that of the oracle %s", s, i, at(want), at(got))
		}
	}
}

var fromStep = regexp.MustCompile(`(^|,)\w+/`)

// croniter is wrong by an hour or more on most days on which clocks change, so it is asked for the days
// between. It loses the first days of a month that comes after one without a day that the field has, so it
// is not asked for the 29th, 30th and 31st alone; and for it 5/1 as days of the week includes Sunday.
func TestNextAgreesWithCroniter(t *testing.T) {
	python := "/usr/bin/python3" // where Debian installs python3-croniter
	if exec.Command(python, "-c", "import croniter, pytz").Run() != nil {
		t.Skip("no croniter: apt-get install python3-croniter python3-tz")
	}
	rng, names := random(t), zones(t)
	type question struct {
		s           schedule.Schedule
		loc         *time.Location
		r           *rules
		first, last int64
	}
	var asked []question
	var in bytes.Buffer
	for len(asked) < few(300, 20_000) {
		zone := names[rng.IntN(len(names))]
		loc, r := location(t, zone), fewRuns(rng)
		first := oracleFirst + rng.Int64N(oracleEnd-oracleFirst)
		last := first + 40*24*3600
		late, days := len(values(&r.day, 29, 31)), strings.Fields(r.text)[4]
		if len(changes(loc, first-24*3600, last+24*3600)) > 0 || late == 1 || late == 2 || fromStep.MatchString(days) {
			continue
		}
		asked = append(asked, question{parse(t, "CRON_TZ="+zone+" "+r.text), loc, r, first, last})
		fmt.Fprintf(&in, "%s\t%d\t%d\t%s\n", zone, first, last, r.text)
	}
	cmd := exec.Command(python, "testdata/croniter_runs.py")
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	lines := bufio.NewScanner(bytes.NewReader(out))
	for _, q := range asked {
		require.True(t, lines.Scan())
		var answer []int64
		for run := range strings.FieldsSeq(lines.Text()) {
			v, err := strconv.ParseInt(run, 10, 64)
			require.NoError(t, err)
			answer = append(answer, v)
		}
		requireSame(t, q.s, shown(t, q.loc, q.r, runs(q.s, q.first, q.last), true), answer)
	}
}
