package target

import (
	"os"
	"path/filepath"
	"time"
)

// scrubFresh is how old the status of a btrfs scrub may be while it runs: the tools
// write it every five seconds (btrfs-progs, cmds/scrub.c).
const scrubFresh = 30 * time.Second

// btrfs adds what btrfs does by itself with file systems on the drives: balance,
// resize, replace and others that exclude each other are told by the kernel
// (/sys/fs/btrfs/UUID/exclusive_operation), a scrub only by the tools' own files.
func (s *search) btrfs() {
	dirs, _ := filepath.Glob(filepath.Join(s.o.sys(), "fs/btrfs/*-*"))
	for _, dir := range dirs {
		links, _ := os.ReadDir(filepath.Join(dir, "devices"))
		var devices []string
		for _, l := range links {
			devices = append(devices, l.Name())
		}
		if !s.uses(devices) {
			continue
		}
		if op := readString(dir, "exclusive_operation"); op != "" && op != "none" {
			s.add(neighbourJob, "btrfs "+op)
		}
		status, err := os.Stat(s.o.root("var/lib/btrfs/scrub.status." + filepath.Base(dir)))
		if err == nil && time.Since(status.ModTime()) < scrubFresh {
			s.add(neighbourJob, "btrfs scrub")
		}
	}
}
