package judge

var refusedLost = []func(*script){
	func(s *script) { s.call(OpSet, key, "v", 0, 5, 100) },
	func(s *script) { // the handler has not returned nil
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 101, 101).end.OK = false
	},
	func(s *script) { // it was killed meanwhile
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 101, 101).end = nil
	},
	func(s *script) { // the answer says that there was none
		s.call(OpSet, key, "v", 0, 5, 100)
		s.call(OpRemove, key, "", 10, 15, 0).answer.OK = false
	},
	func(s *script) { // only what was replaced has fired
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 101, 101)
		s.call(OpSet, key, "w", 110, 115, 100)
	},
	func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 101, 101)
		s.call(OpMove, key, "", 110, 115, 1000)
	},
	func(s *script) { // neither the old one nor what is in doubt
		s.call(OpSet, key, "v", 0, 5, 100)
		s.call(OpSet, key, "w", 10, 15, 100).answer = nil
	},
}

var refusedRevived = []func(*script){
	func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100)
		s.call(OpRemove, key, "", 10, 15, 0)
		s.fire(key, "v", 10, 101, 101)
	},
	func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100)
		s.call(OpSet, key, "w", 10, 15, 100)
		s.fire(key, "v", 10, 101, 101)
		s.fire(key, "w", 11, 112, 111)
	},
	func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100)
		s.call(OpMove, key, "", 10, 15, 1000)
		s.fire(key, "v", 10, 101, 101)
		s.fire(key, "v", 11, 1012, 1011)
	},
	func(s *script) { // a stop that is long over is no excuse
		s.Events = []Event{{Fault: StopWorker, Worker: 1, From: 1 * ms, To: 2 * ms}}
		s.call(OpSet, key, "v", 0, 5, 1000)
		s.call(OpRemove, key, "", 10, 15, 0)
		s.fire(key, "v", 10, 1001, 1001)
	},
	func(s *script) { // nor is that of another worker
		s.Events = []Event{{Fault: StopWorker, Worker: 2, From: 50 * ms, To: 100 * ms}}
		s.call(OpSet, key, "v", 0, 5, 100)
		s.call(OpRemove, key, "", 10, 15, 0)
		s.fire(key, "v", 10, 101, 101)
	},
}

var refusedEarly = []func(*script){
	func(s *script) { s.call(OpSet, key, "v", 0, 5, 100); s.fire(key, "v", 10, 70, 101) },
	func(s *script) { s.call(OpSetAt, key, "v", 0, 5, 100); s.fire(key, "v", 10, 99, 100) },
	func(s *script) { // before the time to which it was moved
		s.call(OpSet, key, "v", 0, 5, 100)
		s.call(OpMoveAt, key, "", 10, 15, 1000)
		s.fire(key, "v", 10, 1009, 1010)
	},
	func(s *script) { // the next attempt
		s.set("k", 0)
		s.fires[0].end.OK, s.fires[0].end.Time = false, 110*ms
		s.fire(key, "v", 11, 159, 102).Attempt = 2
	},
}

var refusedMisdue = []func(*script){
	func(s *script) { s.call(OpSet, key, "v", 0, 5, 100); s.fire(key, "v", 10, 200, 70) },
	func(s *script) { s.call(OpSet, key, "v", 0, 5, 100); s.fire(key, "v", 10, 200, 130) },
	func(s *script) { s.call(OpSetAt, key, "v", 0, 5, 100); s.fire(key, "v", 10, 200, 101) },
	func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100)
		s.call(OpMoveAt, key, "", 10, 15, 1000).answer = nil
		s.fire(key, "v", 10, 1015, 1012)
	},
}

var refusedStranger = []func(*script){
	func(s *script) { s.fire(key, "v", 10, 200, 100) },
	func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 101, 101)
		s.fire(key, "w", 11, 101, 101)
	},
	func(s *script) { // before it was set
		s.call(OpSet, key, "v", 100, 105, 100)
		s.fire(key, "v", 9, 50, 50)
		s.fire(key, "v", 10, 201, 201)
	},
	func(s *script) { // what certainly was not committed
		s.call(OpSet, key, "v", 0, 5, 100).answer.Result = Refused
		s.fire(key, "v", 10, 101, 101)
	},
}

var refusedSameID = []func(*script){
	func(s *script) {
		s.set("a", 0)
		s.set("b", 500)
		s.fires[1].ID, s.fires[1].Attempt, s.fires[1].Epoch = s.fires[0].ID, 2, 2
	},
}

var refusedTwice = []func(*script){
	func(s *script) {
		s.call(OpSet, key, "v", 0, 5, 100)
		s.fire(key, "v", 10, 101, 101)
		s.fire(key, "v", 11, 102, 102)
	},
}
