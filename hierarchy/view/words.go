package view

import (
	"fmt"
	"html"
	"net/url"
	"strings"
)

const (
	wheelTitle = "Timing wheel"
	indexTitle = "Timing wheels"
)

func pageOfWheel(name string, k kind) webPage {
	title, heading := wheelTitle, wheelTitle
	if name != "" {
		title, heading = name+" – "+wheelTitle, name
	}
	return webPage{wheelLayouts[k], words(title, heading, "", "")}
}

// pageOfListed returns the page of a wheel of an Index, with a link back to the Index.
func pageOfListed(name, index string, k kind) webPage {
	title, back := name+" – "+wheelTitle, "all wheels"
	if index != "" {
		title, back = name+" – "+index, index
	}
	up := fmt.Sprintf("<a class=\"up\" href=\"./\">%s</a>\n  ", html.EscapeString(back))
	return webPage{wheelLayouts[k], words(title, name, up, queryFor(name))}
}

func pageOfIndex(names []string, title string) webPage {
	if title == "" {
		title = indexTitle
	}
	var links strings.Builder
	for _, name := range names {
		fmt.Fprintf(&links, "<li><a href=\"%s\">%s</a></li>\n", html.EscapeString(queryFor(name)), html.EscapeString(name))
	}
	return webPage{indexLayout, words(title, title, "", "", "{{links}}", links.String())}
}

// queryFor returns the query for a wheel of an Index.
func queryFor(name string) string { return "?wheel=" + url.QueryEscape(name) }

// words returns the replacements for the placeholders of a layout. up and more are HTML.
func words(title, heading, up, query string, more ...string) *strings.Replacer {
	return strings.NewReplacer(append(more,
		"{{title}}", html.EscapeString(title), "{{heading}}", html.EscapeString(heading),
		"{{up}}", up, "{{json}}", html.EscapeString("json"+query),
	)...)
}
