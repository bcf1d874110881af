// Package figures formats measurements for the pages of docs: quantiles, durations with a
// unit, and tables.
package figures
