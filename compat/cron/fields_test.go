package cron_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/cron"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

const (
	withSeconds = cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor
	star        = 1 << 63
)

func location(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	require.NoError(t, err)
	return loc
}

// shown reports whether the clock on the wall shows a time that s allows. It shares nothing with the package.
func shown(s *cron.SpecSchedule, t time.Time) bool {
	has := func(field uint64, v int) bool { return field>>v&1 != 0 }
	if !has(s.Second, t.Second()) || !has(s.Minute, t.Minute()) || !has(s.Hour, t.Hour()) || !has(s.Month, int(t.Month())) {
		return false
	}
	day, weekday := has(s.Dom, t.Day()), has(s.Dow, int(t.Weekday()))
	if (s.Dom|s.Dow)&star != 0 {
		return day && weekday
	}
	return day || weekday
}

// randomSchedule makes a SpecSchedule that runs on whole minutes, as a caller could build it, often around midnight.
func randomSchedule(r *rand.Rand, loc *time.Location) *cron.SpecSchedule {
	set := func(low, high int) (values uint64) {
		if r.IntN(3) == 0 {
			return 1<<(high+1) - 1<<low | star
		}
		for range 1 + r.IntN(3) {
			values |= 1 << (low + r.IntN(high-low+1))
		}
		return values
	}
	s := &cron.SpecSchedule{Second: 1, Minute: set(0, 59), Hour: set(0, 23), Dom: set(1, 31), Month: 0x1ffe, Dow: set(0, 6),
		Location: loc}
	if r.IntN(2) == 0 {
		s.Hour |= 1 << r.IntN(4)
	}
	return s
}

// Around changes of clocks of all kinds, Next returns the first minute at which the clock shows what is allowed: that is
// what the tests of robfig/cron require, and its documentation says.
func TestNextIsWhatTheClockShows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for zone, change := range map[string]string{
		"America/New_York":    "2012-03-11T07:00", // 02:00 to 03:00
		"Europe/Berlin":       "2024-10-27T01:00", // 03:00 to 02:00
		"Australia/Lord_Howe": "2024-04-06T15:00", // 02:00 to 01:30
		"Antarctica/Troll":    "2024-03-31T01:00", // 01:00 to 03:00
		"America/Sao_Paulo":   "2018-11-04T03:00", // 00:00 to 01:00
		"America/Havana":      "2024-11-03T05:00", // 01:00 to 00:00
		"Pacific/Apia":        "2011-12-30T10:00", // a day is left out
		"Asia/Pyongyang":      "2018-05-04T15:00", // 23:30 to 00:00
		"Asia/Kathmandu":      "2024-01-01T00:00", // no change, 5:45 off
	} {
		loc := location(t, zone)
		at, err := time.Parse("2006-01-02T15:04", change)
		require.NoError(t, err)
		for range 30 {
			s := randomSchedule(r, loc)
			from := at.Add(time.Duration(r.IntN(48*60)-36*60) * time.Minute)
			want := from.Add(time.Minute)
			for ; !shown(s, want.In(loc)) && want.Sub(from) < 60*24*time.Hour; want = want.Add(time.Minute) {
			}
			if !shown(s, want.In(loc)) {
				continue
			}
			got := s.Next(from.Add(time.Duration(r.Int64N(int64(time.Minute)))))
			require.Equal(t, want, got, "%+v in %v from %v", s, zone, from.In(loc))
		}
	}
}

// Next is in the zone of its argument, and reads fields without a zone of their own in that zone, too.
func TestZoneOfNext(t *testing.T) {
	tokyo := location(t, "Asia/Tokyo")
	now := time.Date(2024, 1, 1, 12, 0, 0, 0, tokyo)
	for _, loc := range []*time.Location{time.Local, nil, tokyo} {
		s := &cron.SpecSchedule{Second: 1, Minute: 1, Hour: 1 << 6, Dom: 0xfffffffe | star, Month: 0x1ffe, Dow: 0x7f, Location: loc}
		require.Equal(t, "2024-01-02 06:00:00 +0900 JST", s.Next(now).String())
		s.Location = time.UTC
		require.Equal(t, "2024-01-01 15:00:00 +0900 JST", s.Next(now).String())
	}
}

// What callers build may have no value in a field, or bits that mean nothing.
func TestOddFields(t *testing.T) {
	whole := cron.SpecSchedule{Second: 1, Minute: 1, Hour: 1, Dom: 2, Month: 2, Dow: star}
	now := time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)
	for name, change := range map[string]func(*cron.SpecSchedule){
		"second":  func(s *cron.SpecSchedule) { s.Second = 0 },
		"minute":  func(s *cron.SpecSchedule) { s.Minute = star },
		"hour":    func(s *cron.SpecSchedule) { s.Hour = 1 << 24 },
		"days":    func(s *cron.SpecSchedule) { s.Dom, s.Dow = 1, 1<<7 },
		"weekday": func(*cron.SpecSchedule) {},
		"month":   func(s *cron.SpecSchedule) { s.Month = 1 },
		"never":   func(s *cron.SpecSchedule) { s.Dom, s.Month = 1<<30, 1<<2 },
		"all":     func(s *cron.SpecSchedule) { *s = cron.SpecSchedule{} },
	} {
		s := whole
		change(&s)
		require.Zero(t, s.Next(now), name)
	}
	s := whole
	s.Second, s.Minute, s.Hour, s.Dow = s.Second|1<<60, s.Minute|1<<61, s.Hour|1<<30, 0x7f|star|1<<40
	require.Equal(t, "2025-01-01 00:00:00 +0000 UTC", s.Next(now).String())
	s.Dow = 1 << 1 // Mondays, or the first
	require.Equal(t, "2025-01-01 00:00:00 +0000 UTC", s.Next(now).String())
	s.Dom = 0
	require.Equal(t, "2025-01-06 00:00:00 +0000 UTC", s.Next(now).String())
}

// Leap days that are further apart than the five years for which robfig/cron looks.
func TestNextLooksFarAhead(t *testing.T) {
	s, err := cron.ParseStandard("0 0 29 2 *")
	require.NoError(t, err)
	require.Equal(t, 2104, s.Next(time.Date(2096, 3, 1, 0, 0, 0, 0, time.UTC)).Year())
}

// With Daylight the rules of hierarchy/schedule hold, text by text.
func TestDaylight(t *testing.T) {
	parser := cron.NewParser(withSeconds | cron.Daylight)
	for _, fields := range []string{"0 30 2 * * *", "0 */20 1,2 * * *", "0 30 * * * *", "0 30 */2 * * *", "0 30 0-23 * * *",
		"*/7 30 2 * * *", "0 0 0 * * *", "0 45 23 * * mon", "@daily", "@hourly"} {
		for _, zone := range []string{"Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia"} {
			text := "CRON_TZ=" + zone + " " + fields
			got, err := parser.Parse(text)
			require.NoError(t, err)
			want := schedule.MustParse(text)
			for _, year := range []int{2011, 2018, 2024} {
				a := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
				b := a
				for range 2000 {
					a, b = got.Next(a), want.Next(b)
					require.Equal(t, b, a, text)
				}
			}
		}
	}
}

// The bank's case (#541): a job at 02:00 in the night in which there is none.
func TestDaylightOfACron(t *testing.T) {
	for name, want := range map[string]string{
		"default":  "31T01:00:00 later",
		"daylight": "31T01:00:00 job, 31T01:00:00 later",
	} {
		options := withSeconds
		if name == "daylight" {
			options |= cron.Daylight
		}
		c, m := onMock(t, cron.WithLocation(location(t, "Europe/Berlin")), cron.WithParser(cron.NewParser(options)))
		d := &diary{m: m}
		add(t, c, "0 30 2 * * *", d.job("job"))
		add(t, c, "0 0 3 * * *", d.job("later"))
		m.Add(12 * time.Hour)
		c.Start()
		m.Add(24 * time.Hour)
		require.Equal(t, want, d.take(), name)
	}
}

// Texts on which robfig/cron panics, or which it accepts without a time that they could mean.
func TestOddTexts(t *testing.T) {
	for text, want := range map[string]string{
		"TZ=0":                         "provided bad location 0: unknown time zone 0",
		"TZ=":                          "expected exactly 5 fields, found 0: []",
		"TZ=TZ=TZ=":                    "provided bad location TZ=TZ=",
		"CRON_TZ=UTC":                  "expected exactly 5 fields, found 0: []",
		"TZ=UTC\t":                     "expected exactly 5 fields, found 0: []",
		"TZ=Mars/Base 0 0 * * *":       "provided bad location Mars/Base",
		", * * * *":                    "a field without values: ,",
		"0 0 ,,, * *":                  "a field without values: ,,,",
		"0 0 1 1 1 1 1":                "expected exactly 5 fields, found 7",
		"@every":                       "unrecognized descriptor: @every",
		"0 0 * * 7":                    "end of range (7) above maximum (6): 7",
		"0 0 99999999999999999999 *":   "expected exactly 5 fields",
		"0 99999999999999999999 * * *": "failed to parse int from",
	} {
		s, err := cron.ParseStandard(text)
		require.ErrorContains(t, err, want, text)
		require.Nil(t, s)
	}
	_, err := cron.NewParser(cron.Minute | cron.Hour).Parse("@daily")
	require.ErrorContains(t, err, "parser does not accept descriptors: @daily")
	require.Panics(t, func() { cron.NewParser(cron.SecondOptional | cron.DowOptional) })
	s, err := cron.NewParser(cron.SecondOptional).Parse("TZ=Asia/Tokyo")
	require.NoError(t, err) // all of its one field may be left out
	require.Equal(t, "2024-01-01T15:00:00Z", s.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).Format(time.RFC3339))
	s, err = cron.ParseStandard("TZ=Asia/Tokyo\t0 6 * * *")
	require.NoError(t, err)
	require.Equal(t, 21, s.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).Hour())
}

// A delay that Every would not have made does not run a job without end.
func TestConstantDelay(t *testing.T) {
	now := time.Date(2024, 1, 1, 0, 0, 0, 7e8, time.UTC)
	for delay, want := range map[time.Duration]string{
		0: "00:00:01", -time.Hour: "00:00:01", time.Millisecond: "00:00:01", 1999 * time.Millisecond: "00:00:01",
		90 * time.Second: "00:01:30",
	} {
		require.Equal(t, want, cron.ConstantDelaySchedule{Delay: delay}.Next(now).Format("15:04:05.999"), delay)
		require.Equal(t, want, cron.Every(delay).Next(now).Format("15:04:05.999"), delay)
	}
}

// Whatever the text, Parse returns an error or a schedule that advances.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"TZ=0", "TZ=UTC", "CRON_TZ=Europe/Berlin 30 2 * * *", "@every 90s", "*/7,1-5/2 ? 31 feb mon", ",", "*-5 * * * *"} {
		f.Add(text, int(withSeconds|cron.Daylight), int64(1_700_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, options int, now int64) {
		o := cron.ParseOption(options)
		if o&cron.SecondOptional != 0 {
			o &^= cron.DowOptional
		}
		s, err := cron.NewParser(o).Parse(text)
		if err != nil {
			require.Nil(t, s)
			return
		}
		after := time.Unix(now>>24, 0).UTC()
		for range 5 {
			next := s.Next(after)
			if next.IsZero() {
				break
			}
			require.True(t, next.After(after), "%q: %v, then %v", text, after, next)
			after = next
		}
	})
}

// Printf-based loggers get what robfig/cron's give them.
func TestPrintfLogger(t *testing.T) {
	var b strings.Builder
	l := cron.VerbosePrintfLogger(printer{&b})
	l.Info("run", "at", time.Unix(0, 0).UTC(), "entry", 7)
	l.Error(fmt.Errorf("oh"), "panic", "stack", "x")
	l.Info("stop")
	cron.PrintfLogger(printer{&b}).Info("nothing")
	cron.DiscardLogger.Error(nil, "nothing")
	require.Equal(t, "run, at=1970-01-01T00:00:00Z, entry=7\npanic, error=oh, stack=x\nstop\n", b.String())
}

type printer struct{ to *strings.Builder }

func (p printer) Printf(format string, args ...any) { fmt.Fprintf(p.to, format+"\n", args...) }

// Each error says what is wrong, and Fields that are not included have their defaults.
func TestFieldsOfAParser(t *testing.T) {
	for text, want := range map[string]string{
		"60 * * * *":      "end of range (60) above maximum (59): 60",
		"* * 0 * *":       "beginning of range (0) below minimum (1): 0",
		"5-3 * * * *":     "beginning of range (5) beyond end of range (3): 5-3",
		"*/0 * * * *":     "step of range should be a positive number: */0",
		"*/x * * * *":     "failed to parse int from x",
		"1/2/3 * * * *":   "too many slashes: 1/2/3",
		"1-2-3 * * * *":   "too many hyphens: 1-2-3",
		"1-x * * * *":     "failed to parse int from x",
		"*/-1 * * * *":    "negative number (-1) not allowed: -1",
		"* * * * monday":  "failed to parse int from monday",
		"@every x":        "failed to parse duration @every x",
		"@reboot":         "unrecognized descriptor: @reboot",
		"":                "empty spec string",
		"* * * *":         "expected exactly 5 fields, found 4: [* * * *]",
		"* * * jan mon-x": "failed to parse int from x",
	} {
		s, err := cron.ParseStandard(text)
		require.ErrorContains(t, err, want)
		require.Nil(t, s)
	}
	now := time.Date(2024, 6, 5, 4, 3, 2, 0, time.UTC)
	for _, c := range []struct {
		options    cron.ParseOption
		text, next string
	}{
		{cron.Minute | cron.Hour, "5 7", "2024-06-05T07:05:00Z"},
		{cron.Dom | cron.Month, "9 sep", "2024-09-09T00:00:00Z"},
		{cron.Hour | cron.DowOptional, "7", "2024-06-05T07:00:00Z"},
		{cron.Hour | cron.DowOptional, "7 fri", "2024-06-07T07:00:00Z"},
		{cron.SecondOptional | cron.Minute, "5", "2024-06-06T00:05:00Z"},
		{cron.SecondOptional | cron.Minute, "9 5", "2024-06-06T00:05:09Z"},
		{0, " ", "2024-06-06T00:00:00Z"},
	} {
		s, err := cron.NewParser(c.options).Parse(c.text)
		require.NoError(t, err)
		require.Equal(t, c.next, s.Next(now).Format(time.RFC3339), c.text)
	}
	_, err := cron.NewParser(cron.SecondOptional | cron.Minute).Parse("1 2 3")
	require.ErrorContains(t, err, "expected 1 to 2 fields, found 3")
	_, err = cron.New().AddFunc("x", func() {})
	require.ErrorContains(t, err, "expected exactly 5 fields, found 1")
}

// A panic with something else than an error is one, too.
func TestRecover(t *testing.T) {
	var b strings.Builder
	job := cron.NewChain(cron.Recover(cron.PrintfLogger(printer{&b}))).Then(cron.FuncJob(func() { panic("oh") }))
	job.Run()
	require.Contains(t, b.String(), "panic, error=oh, stack=...\n")
	require.Contains(t, b.String(), "TestRecover")
}
