// Package adapters is the root of a module. The packages below it adapt a wheel to other libraries.
package adapters
