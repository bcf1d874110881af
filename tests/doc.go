// Package tests has the tests that use the packages from outside and together.
package tests
