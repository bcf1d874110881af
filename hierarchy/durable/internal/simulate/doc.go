// Package simulate runs a cluster in virtual time: processes that share timers, and others that call them, with the code
// that they have in production, above logs, a table and a network in memory that fail as a seed says. Minutes of faults
// take a fraction of a second. Nothing here is linked into a program. Package cores, below, simulates the decisions
// alone, which a seed determines completely; and so does package member for leases and claims. Package calls simulates
// calls alone.
//
//	world_test.go      what the processes share, and what became of the timers
//	worker_test.go     a process and its connections
//	clock_test.go      its clocks
//	faults_test.go     what goes wrong with messages, logs and the table all the time
//	disturb_test.go    what happens to processes and logs, one or two at a time
//	trouble_test.go    what fails once, and is nobody's business
//	alone_test.go      a process that reaches nothing but the logs
//	pauses_test.go     schedules that are paused
//	poison_test.go     attempts in which a process was killed
//	logs_test.go       connections to logs
//	announce_test.go   timers that are announced
//	held_test.go       messages that the network holds
//	callers_test.go    what is asked
//	batch_test.go      what one call sets
//	calls_test.go      when calls end, and why
//	forgotten_test.go  processes that owners have forgotten
//	givenup_test.go    calls that are given up, and arrive when their process owns the partition
//	handler_test.go    what handlers do, and what is known of them
//	judge_test.go      the promises
//	late_test.go       what holds timers up
//	ontime_test.go     those that nothing holds up
//	time_test.go       the time of owners
//	calm_test.go       what is promised when nothing fails
//	farewell_test.go   what is promised when all processes leave
//	mute_test.go       a process that can't write to a log
//	notable_test.go    a table that is away for longer than calls wait
//	silent_test.go     a log that does not answer for longer than calls wait
//	memory_test.go     what processes have in memory when nothing happens
//	simulate_test.go   histories
package simulate
