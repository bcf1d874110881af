module github.com/epicycle-go/epicycle

go 1.25
