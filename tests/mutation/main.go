// Command mutation checks that the tests find the bugs of this module that are planted on purpose, those in the
// directory bugs. Package internal/mutation says how. Run it from the top of the repository.
package main

import "github.com/epicycle-go/epicycle/internal/mutation"

func main() { mutation.Main("tests/mutation/bugs") }
