// Package tests holds what is tested from outside and across packages.
package tests
