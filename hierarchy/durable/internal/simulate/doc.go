// Package simulate runs a cluster in virtual time: processes that share timers, and others that call them, with the code
// that they have in production, above logs, a table and a network in memory that fail as a seed says. Minutes of faults
// take a fraction of a second. Nothing here is linked into a program. Package cores, below, simulates the decisions
// alone, which a seed determines completely; and so does package member for leases and claims.
//
//	world_test.go      what the processes share, and what became of the timers
//	worker_test.go     a process and its connections
//	clock_test.go      its clocks
//	faults_test.go     what goes wrong, and when
//	alone_test.go      a process that reaches nothing but the logs
//	logs_test.go       connections to logs
//	announce_test.go   timers that are announced
//	callers_test.go    what is asked
//	handler_test.go    what handlers do, and what is known of them
//	judge_test.go      the promises
//	calm_test.go       what is promised when nothing fails
//	simulate_test.go   histories
package simulate
