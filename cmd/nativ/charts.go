package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/report/plot"
)

// pictureFormats are the forms of --format that draw charts.
var pictureFormats = []string{"svg", "png"}

// A pictures is what nativ report draws, and where to.
type pictures struct {
	format, chart, out string
	dark               bool
}

// check refuses options that belong to pictures elsewhere, and what cannot be met.
func (p *pictures) check() error {
	if !slices.Contains(pictureFormats, p.format) {
		switch {
		case p.chart != "":
			return exit(exitUsage, "--chart goes with --format svg or png")
		case p.dark:
			return exit(exitUsage, "--dark goes with --format svg or png")
		case p.out != "" && p.format != "html":
			return exit(exitUsage, "--out goes with --format html, svg or png; redirect the others")
		}
		return nil
	}
	if p.chart == "" && p.out == "" {
		return exit(exitUsage, "--format %s draws several charts: --out DIR is missing", p.format).
			next("Or one with --chart NAME, to standard output: %s", strings.Join(report.ChartIDs(), ", "))
	}
	kind, _, _ := strings.Cut(p.chart, "-")
	if p.chart != "" && !slices.Contains(report.ChartIDs(), kind) {
		return exit(exitUsage, "--chart %q is not one of %s", p.chart, strings.Join(report.ChartIDs(), ", "))
	}
	return nil
}

// draw writes the charts of a record. hash is that of the record before anything was
// taken out of it; "" is the record's own.
func (p *pictures) draw(e *env, rec *record.Record, lang, hash string) error {
	charts, left := report.Charts(rec, analysis.Compute(rec), report.ChartOptions{Lang: lang, Hash: hash})
	chosen := charts
	if p.chart != "" {
		chosen = slices.DeleteFunc(slices.Clone(charts), func(c *report.Chart) bool {
			return c.ID != p.chart && !strings.HasPrefix(c.ID, p.chart+"-")
		})
	}
	if len(chosen) == 0 {
		for _, l := range left {
			fmt.Fprintln(e.stderr, "nativ:", l)
		}
		if p.chart == "" {
			return exit(exitRefused, "the record has nothing that could be drawn")
		}
		return exit(exitRefused, "the record has no chart %s", p.chart).next("It has: %s", chartList(charts))
	}
	if p.out == "" && len(chosen) > 1 {
		return exit(exitUsage, "the record has %d charts %s: name one, or --out DIR for all of them", len(chosen), p.chart).
			next("They are: %s", chartList(chosen))
	}
	dir := p.chart == "" || len(chosen) > 1 || strings.HasSuffix(p.out, string(filepath.Separator)) || isDir(p.out)
	if p.out != "" {
		parent := p.out
		if !dir {
			parent = filepath.Dir(p.out)
		}
		if err := os.MkdirAll(parent, 0o755); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	for _, c := range chosen {
		b, err := drawn(c, p.format, p.dark)
		if err != nil {
			return err
		}
		if p.out == "" {
			_, err := e.stdout.Write(b)
			return written("the picture", err)
		}
		path := p.out
		if dir {
			path = filepath.Join(p.out, pictureName(rec.ID, c.ID, p.format))
		}
		if err := exportFile(path, b); err != nil {
			return err
		}
		fmt.Fprintln(e.stdout, path)
	}
	if p.chart == "" {
		for _, l := range left {
			fmt.Fprintln(e.stderr, "nativ:", l)
		}
	}
	return nil
}

// drawn is a chart as a picture.
func drawn(c *report.Chart, format string, dark bool) ([]byte, error) {
	if format == "png" {
		return plot.PNG(c, plot.Options{Dark: dark})
	}
	return plot.SVG(c, plot.Options{Dark: dark})
}

// pictureName is the name of a file with one chart. An ID comes from a file that
// somebody gave, and names no other directory.
func pictureName(id, chart, format string) string {
	if id == "" || id != filepath.Base(id) || !fs.ValidPath(id) {
		return fmt.Sprintf("nativ-%s.%s", chart, format)
	}
	return fmt.Sprintf("nativ-%s-%s.%s", id, chart, format)
}

func chartList(charts []*report.Chart) string {
	var ids []string
	for _, c := range charts {
		ids = append(ids, c.ID)
	}
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}
