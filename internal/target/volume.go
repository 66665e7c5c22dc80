package target

import (
	"fmt"

	"nativ/internal/record"
)

// A VolumeWish is what a run needs of a Proxmox VE storage.
type VolumeWish struct {
	// Copies is how many volumes of the file's size there are, Extra what else is
	// made there, in bytes.
	Copies int64
	Extra  int64
}

const (
	// keepPool is what stays free in a pool whose volumes take space as they are
	// written: a full one stops every guest on it.
	keepPool = 20
	// volumeStep is the step of volumes: LVM rounds up to extents of 4 MiB.
	volumeStep = 64 << 20
)

// VolumeFor is the size of a volume whose filesystem has room for a file: inode
// tables are 1.6 % of ext4, its journal at most 1 GiB, and what is reserved for root
// is taken by root.
func VolumeFor(file int64) int64 {
	return (file + file/16 + 512<<20 + volumeStep - 1) / volumeStep * volumeStep
}

// GateStorage is Gate for a volume that is yet to be made, on a storage of the target:
// it grants the size of the file.
func GateStorage(t *record.Target, w VolumeWish, want, least int64) (size int64, err error) {
	if want <= 0 || least <= 0 || least > want {
		return 0, fmt.Errorf("choose file size: %d bytes, at least %d, make no sense", want, least)
	}
	var keep int64
	switch t.Volume.StorageType {
	case "lvm": // volumes take their space at once, and nothing grows there
	case "lvmthin", "zfspool", "rbd", "cephfs":
		keep = t.TotalBytes / 100 * keepPool
	default:
		keep = max(t.TotalBytes/100*keepPercent, keepLeast)
	}
	need := func(file int64) int64 { return w.Copies*VolumeFor(file) + w.Extra }
	for size = want; size >= least; size = (size - 1) / sizeStep * sizeStep {
		if need(size) <= t.FreeBytes-keep {
			return size, nil
		}
	}
	return 0, &Refusal{Code: RefuseStorage, Dir: t.Volume.Storage, NeedBytes: need(least), KeepBytes: keep, FreeBytes: t.FreeBytes, TotalBytes: t.TotalBytes}
}
