// Command mutation checks that the tests find the bugs of durable timers that are planted on purpose, those in the
// directory bugs. Package internal/mutation says how. Run it from the top of this module.
package main

import "github.com/epicycle-go/epicycle/internal/mutation"

func main() { mutation.Main("mutation/bugs") }
