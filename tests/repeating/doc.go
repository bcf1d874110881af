// Package repeating has the tests of what repeats: that a Repeater or Ticker comes when it is due, whatever it does
// itself and whatever else happens, how runs are skipped and missed, and which times the schedules of package hierarchy
// have.
package repeating
