// Package cores drives the cores of owners that take one log from each other, by one loop and without goroutines, as a
// seed says: operations and their copies, appends that fail, arrive late, twice, or are in doubt, clocks that are wrong
// and are set, attempts that fail, processes that die. The same history has the same trace. A plain model says what the
// log means, and each answer and each attempt is compared with it.
//
//	world_test.go      what happens in a step
//	log_test.go        the log, and what arrives late
//	owner_test.go      what package partition does with a core, without its goroutines
//	ownerfaults_test.go  how it fails, and ends
//	compose_test.go    how it makes a frame
//	attempts_test.go   its attempts
//	takeover_test.go   how it begins
//	callers_test.go    what is requested, and how often
//	model_test.go      what the log means
//	modelcalls_test.go what calls change
//	modelfires_test.go what begins, and when
//	schedules_test.go  one run after the other
//	pauses_test.go     timers that are paused
//	extra_test.go      why attempts have failed
//	limits_test.go     logs that take only small messages
//	trim_test.go       logs that have a limit, and how they are trimmed
//	gone_test.go       whose contexts end
//	left_test.go       attempts that were left, until their time is over
//	lists_test.go      what is listed, and what snapshots have
//	follow_test.go     who reads a log that another process owns
//	cores_test.go      histories
package cores
