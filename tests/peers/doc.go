// Package peers has the tests and measurements that need other libraries. It is a module
// of its own, so that those libraries are not in the go.sum of users of the wheel.
package peers
