package figures

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplaceTable(t *testing.T) {
	rows := [][]string{{"n", "cost"}, {"1", "new"}, {"2", "newer"}}
	table := "| n | cost |\n| --- | --- |\n| 1 | new |\n| 2 | newer |\n"
	old := "| n | cost |\n| --- | --- |\n| 7 | old |\n"
	other := "| n | else |\n| --- | --- |\n| 7 | other |\n"
	for _, around := range [][2]string{{"", ""}, {"# Page\n\n", ""}, {other + "\n", "\nafter\n"}, {"", "\n" + other}} {
		page, err := ReplaceTable(around[0]+old+around[1], rows)
		require.NoError(t, err)
		require.Equal(t, around[0]+table+around[1], page)
	}
	for _, page := range []string{"", other, "text | n | cost |\n", old + "\n" + old} {
		_, err := ReplaceTable(page, rows)
		require.ErrorIs(t, err, errNoTable)
	}
}
