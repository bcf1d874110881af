// Package adapters is the root of a module. The packages below it adapt a wheel to other libraries, which it requires, and
// nothing else but what tests them: a library that takes such a clock is tested in tests/peers.
package adapters
