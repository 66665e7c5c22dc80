package storage

import (
	"slices"
	"strconv"
	"strings"

	"nativ/internal/record"
)

// parseProperties reads what "zfs get -Hp -o property,value all NAME" prints: a
// property and its value on each line, with a tab between. What it does not say
// stays as it was.
func parseProperties(z *record.ZFS, text string) {
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if !ok || value == "-" || value == "" {
			continue
		}
		switch name {
		case "recordsize", "volblocksize":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > 0 {
				z.RecordBytes = &n
			}
		case "compression":
			z.Compression = value
		case "primarycache":
			z.PrimaryCache = value
		case "direct":
			z.Direct = value
		case "sync":
			z.Sync = value
		case "logbias":
			z.LogBias = value
		}
	}
}

// parseDevices reads the paths of the block devices that hold data from what
// "zpool list -vHPL POOL" prints: a line for the pool and each virtual device, its
// name first, and a line with the name of a class ("cache", "spare", "logs") before
// the devices of it.
func parseDevices(text string) []string {
	var nodes []string
	skip := false
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "cache" || f[0] == "spare" || f[0] == "spares":
			skip = true // no data of files lies there alone
		case f[0] == "logs" || f[0] == "log" || f[0] == "special" || f[0] == "dedup":
			skip = false
		case strings.HasPrefix(f[0], "/dev/") && !skip && !slices.Contains(nodes, f[0]):
			nodes = append(nodes, f[0])
		}
	}
	return nodes
}
