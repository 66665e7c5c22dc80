package target

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"nativ/internal/record"
)

// Drives lists the physical drives of this machine, by name: whatever has a size
// and is neither memory nor made of other devices.
func Drives(o Roots) ([]record.Drive, error) {
	entries, err := os.ReadDir(filepath.Join(o.sys(), "class/block"))
	if err != nil {
		return nil, fmt.Errorf("list drives: %w", err)
	}
	w := newWalk(o, nil)
	var all []record.Drive
	for _, e := range entries {
		if notADrive.MatchString(e.Name()) || w.layer(e.Name()).Kind != kindDisk {
			continue
		}
		if d := readDrive(o.sys(), e.Name()); d.SizeBytes > 0 && d.Transport != transportMemory {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b record.Drive) int {
		return strings.Compare(natural(a.Name), natural(b.Name))
	})
	return all, nil
}

// notADrive matches devices without a drive of their own: optical and floppy
// drives, unused loops, the paths that NVMe multipath hides behind a head, and
// the boot areas of an eMMC.
var notADrive = regexp.MustCompile(`^(loop|sr|fd|md|dm-|zram|ram)[0-9]+|^nvme[0-9]+c[0-9]+n[0-9]+|^mmcblk[0-9]+(boot|rpmb)`)

// natural makes names sort by their numbers: nvme2n1 before nvme10n1.
func natural(name string) string {
	return digits.ReplaceAllStringFunc(name, func(n string) string { return strings.Repeat("0", max(0, 9-len(n))) + n })
}

var digits = regexp.MustCompile(`[0-9]+`)

// ErrNoDrive says that a name is none of a drive.
var ErrNoDrive = errors.New("there is no such drive")

// DrivesOf returns the drives that a name stands for: a block device, by its
// kernel name or the path of its node ("nvme0n1", "/dev/mapper/pve-data"), or an
// NVMe controller ("nvme0"). The error is ErrNoDrive where it is none of these.
func DrivesOf(name string, o Roots) ([]record.Drive, error) {
	w := newWalk(o, nil)
	base := strings.TrimPrefix(name, "/dev/")
	if controllerName.MatchString(base) {
		all, err := Drives(o)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(d record.Drive) bool { return d.Controller == nil || *d.Controller != base })
		if len(all) > 0 {
			return all, nil
		}
	}
	kernel := base
	if strings.Contains(name, "/") {
		if n := w.nameOfNode(name); n != "" {
			kernel = n
		}
	}
	if strings.Trim(kernel, ".") == "" || strings.Contains(kernel, "/") || !exists(filepath.Join(o.sys(), "class/block"), kernel) {
		return nil, fmt.Errorf("find drive %s: %w", name, ErrNoDrive)
	}
	var all []record.Drive
	for _, d := range w.drivesUnder([]string{kernel}) {
		all = append(all, readDrive(o.sys(), d))
	}
	return all, nil
}
