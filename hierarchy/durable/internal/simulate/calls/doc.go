// Package calls simulates calls to a log: the clients of processes that own nothing, a network, and one owner of the log
// after the other. All of that is the code that a cluster has, without leases, handlers and clocks that differ, so that
// there can be many more faults, and each history takes milliseconds. What became of each call is compared with the log.
//
//	calls_test.go   histories
//	world_test.go   the log, and what it has had
//	owners_test.go  owners that follow each other
//	asks_test.go    what is asked, and what is known of it
//	faults_test.go  what goes wrong with messages and appends
package calls
