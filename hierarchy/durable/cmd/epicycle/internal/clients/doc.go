// Package clients tests the clients of hierarchy/durable/clients: the same scenarios with each of them, against a server in
// a process of its own.
package clients
