package html

import (
	"embed"
	"io/fs"
)

// The style and the script that every page has.
var (
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
)

// What scripts/web makes lies beside a placeholder, so that the directory is never
// empty and a plain go build works.
//
//go:embed assets
var embedded embed.FS

// assets make charts interactive; the zero value is a build without them.
type assets struct{ script, style, licence string }

func built() assets {
	sub, err := fs.Sub(embedded, "assets")
	if err != nil {
		return assets{}
	}
	return readAssets(sub)
}

// readAssets takes all of them or none: without its licence uPlot may not be
// passed on.
func readAssets(from fs.FS) assets {
	var a assets
	for name, into := range map[string]*string{"charts.js": &a.script, "charts.css": &a.style, "LICENSE-uplot.txt": &a.licence} {
		b, err := fs.ReadFile(from, name)
		if err != nil {
			return assets{}
		}
		*into = string(b)
	}
	return a
}
