package outbox

import "fmt"

// PageQueries returns the queries of a page: for new rows, and for those that are tried again.
func PageQueries(table string) (fresh, again string) {
	return rowsQuery(table, "", isNew, byID, pageRows), rowsQuery(table, "", fmt.Sprintf(isAgain, 2), byNext, againRows)
}
