// Package core makes the decisions of the owner of one log: which operations of callers are carried out, what goes into a
// frame, and which attempts begin. It does no I/O, starts no goroutine, takes no lock and reads no clock: its caller,
// package partition, passes the time as a number, and does what the results say. Its methods must not be called
// concurrently: Partition.mu guards the state, and so all that is decided from it. Only the frame that is being made, and
// the end of the log, are the writer's alone, which reads them without the lock.
package core
