package judge

import "fmt"

var refusedFell = []func(*script){
	func(s *script) { // after it was handled, by the same owner
		s.set("k", 0)
		s.fire(key, "v", 11, 150, 102).Attempt = 2
	},
	func(s *script) { // the same attempt, by the same owner
		s.set("k", 0)
		s.fires[0].end.OK = false
		s.fire(key, "v", 11, 150, 102)
	},
	func(s *script) { // by the next owner
		s.set("k", 0)
		s.fires[0].Attempt = 2
		s.fire(key, "v", 11, 150, 102).Epoch = 2
	},
}

var refusedBackwards = []func(*script){
	func(s *script) {
		s.set("a", 0)
		s.set("b", 500)
		s.fires[0].Epoch, s.fires[0].worker = 2, 2
	},
	func(s *script) { // the third one
		s.set("a", 0)
		s.set("b", 500)
		s.set("c", 600)
		s.fires[0].Epoch = 3
		s.fires[1].Epoch = 3
		s.fires[2].Epoch = 2
	},
}

var refusedManyAfter = []func(*script){
	func(s *script) {
		s.Events = []Event{{Fault: StopWorker, Worker: 1, From: 100 * ms, To: 2000 * ms}}
		for i := range mostAfterStop + 1 {
			k := fmt.Sprint(key, i)
			s.call(OpSet, k, "v", 0, 5, 100)
			s.call(OpRemove, k, "", 10, 15, 0)
			s.fire(k, "v", uint64(10+i), 2001, 101)
		}
	},
}

var refusedHanging = []func(*script){
	func(s *script) {
		s.call(OpGet, key, "", 0, 14_000, 0)
	},
}

var refusedDisorder = []func(*script){
	func(s *script) { // what was acknowledged is gone
		s.call(OpSet, SharedKeys, "v", 0, 5, 100)
		s.call(OpGet, SharedKeys, "", 10, 15, 0).answer.OK = false
	},
	func(s *script) { // an old answer
		s.call(OpSet, SharedKeys, "v", 0, 5, 100)
		s.call(OpSet, SharedKeys, "w", 6, 7, 100)
		s.call(OpGet, SharedKeys, "", 10, 15, 0).answer.Value = "v"
	},
	func(s *script) { // what was not committed
		s.call(OpSet, SharedKeys, "v", 0, 5, 100).answer.Result = Refused
		s.call(OpGet, SharedKeys, "", 10, 15, 0).answer.Value = "v"
	},
}

var refusedFailing = []func(*script){
	func(s *script) { s.call(OpSet, key, "v", 0, 5, 100).answer.Result = Failed },
}

var refusedOtherwise = []func(*script){
	func(s *script) { s.Problems = []string{"worker 1 ended by itself"} },
}
