// Package jsapi sends requests to the API of JetStream, and tells what its errors mean. It has what nats.go
// has not, or hides: the answer of a stream's leader, a limit for each request, and errors for servers that
// may answer later. What the messages are for, it does not know.
package jsapi
