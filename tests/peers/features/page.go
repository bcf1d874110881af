package main

// This program replaces the lines between these two lines of a page.
const (
	begin = "<!-- features: written by go run ./features -o -->\n"
	end   = "<!-- end of features -->\n"
)
