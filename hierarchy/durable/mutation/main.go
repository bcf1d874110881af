// Command mutation checks that the tests find the bugs of durable timers that are planted on purpose, those in the
// directory bugs. Package tests/mutation/planted says how. Run it from the top of this module.
package main

import "github.com/epicycle-go/epicycle/tests/mutation/planted"

func main() { planted.Main("mutation/bugs") }
