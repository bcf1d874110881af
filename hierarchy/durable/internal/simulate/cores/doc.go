// Package cores drives the cores of owners that take one log from each other, by one loop and without goroutines, as a
// seed says: operations and their copies, appends that fail, arrive late, twice, or are in doubt, clocks that are wrong
// and are set, attempts that fail, processes that die. The same history has the same trace. A plain model says what the
// log means, and each answer and each attempt is compared with it.
//
//	world_test.go      the log, and what happens in a step
//	owner_test.go      what package partition does with a core, without its goroutines
//	attempts_test.go   its attempts
//	takeover_test.go   how it begins
//	callers_test.go    what is requested, and how often
//	model_test.go      what the log means
//	extra_test.go      why attempts have failed
//	gone_test.go       whose contexts end
//	left_test.go       attempts that were left, until their time is over
//	cores_test.go      histories
package cores
