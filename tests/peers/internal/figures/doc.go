// Package figures makes of what was measured what is written in the pages of
// docs: quantiles, durations with a unit, and tables.
package figures
