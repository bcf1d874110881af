package judge

var ownersClocksAccepted = map[string]func(*script){
	"early by the difference of two owners' clocks": func(s *script) {
		s.off(2, 2000)
		s.call(OpSet, key, "v", 0, 5, 2100)
		s.fire(key, "v", 10, 103, 2102)
		s.next()
	},
	"late by the difference of two owners' clocks": func(s *script) {
		s.owns(2, 0, 20, 10)
		s.off(2, -9000)
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 9105, 102)
		s.next()
	},
	"another attempt by an owner whose clock is behind": func(s *script) {
		s.off(2, -9000)
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 103, 102).end = nil
		s.fire(key, "v", 10, 500, 102)
		s.next().Attempt = 2
	},
	"a change of owners after a kill": func(s *script) {
		s.Events = []Event{{Fault: SetClock, Worker: 1, From: 50 * ms, To: 1000 * ms}, {Fault: KillWorker, From: 150 * ms, To: 150 * ms}}
		s.set("a", 100)
		s.set("b", 300)
		s.next()
	},
}

var setClocksAccepted = map[string]func(*script){
	"a clock that is set moves no timer of Set": func(s *script) {
		s.off(1, -500)
		s.call(OpSet, key, "v", 0, 5, 1000)
		s.jump(1, 3600_000, 100, 101)
		s.fire(key, "v", 10, 1004, 502)
		s.call(OpSet, key+"2", "v", 200, 205, 1000)
		s.fire(key+"2", "v", 11, 1204, 702)
	},
	"a clock that is set during the takeover": func(s *script) {
		s.set("a", 0)
		s.call(OpSet, key, "v", 200, 205, 100)
		s.jump(2, 10_000, 150, 151)
		s.fire(key, "v", 30, 305, 302)
		s.next()
	},
	"a clock that was set before the takeover": func(s *script) {
		s.jump(2, 10_000, 50, 51)
		s.set("a", 100)
		s.call(OpSet, key, "v", 300, 305, 100)
		s.fire(key, "v", 30, 405, 10_401)
		s.next()
	},
}

var wallClocksAccepted = map[string]func(*script){
	"a timer of SetAt follows the clock": func(s *script) {
		s.call(OpSetAt, key, "v", 0, 5, 1000)
		s.jump(1, 10_000, 50, 60)
		s.fire(key, "v", 10, 50, 1000)
	},
	"a timer that was moved to a time follows the clock": func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100)
		s.call(OpMoveAt, key, "", 10, 15, 1000)
		s.jump(1, 10_000, 50, 60)
		s.fire(key, "v", 10, 50, 1010)
	},
	"moved later, with an unknown result": func(s *script) {
		s.call(OpSetAt, key, "v", 0, 5, 100_000)
		s.jump(1, 3600_000, 50, 51)
		s.fire(key, "v", 10, 52, 100_000)
		s.call(OpMove, key, "", 1000, 1005, 5000).answer = nil
	},
	"some time after the clock was set": func(s *script) {
		s.owns(1, 0, 1, 0)
		s.call(OpSetAt, key, "v", 0, 5, 1000)
		s.jump(1, 10_000, 50, 51)
		s.fire(key, "v", 10, 12_900, 1000)
	},
	"later, as the clock was set back": func(s *script) {
		s.owns(1, 0, 1, 0)
		s.call(OpSetAt, key, "v", 0, 5, 1000)
		s.jump(1, -10_000, 50, 51)
		s.fire(key, "v", 10, 11_002, 1000)
	},
	"the clock is set back at once": func(s *script) {
		s.call(OpSetAt, key, "v", 0, 5, 100)
		s.jump(1, -10_000, 102, 103)
		s.fire(key, "v", 10, 104, 100)
	},
	"another attempt after the clock was set back": func(s *script) {
		s.call(OpSetAt, key, "v", 0, 5, 100)
		f := s.fire(key, "v", 10, 101, 100)
		f.end.OK, f.end.Time = false, 102*ms
		s.jump(1, -10_000, 120, 121)
		s.fire(key, "v", 10, 152, 100).Attempt = 2
	},
}
