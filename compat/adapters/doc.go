// Package adapters is the top of a module of adapters: each makes a wheel a clock of another
// library's kind. The packages below it have the code.
package adapters
