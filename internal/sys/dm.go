package sys

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// A DMTarget is one line of a device-mapper table or of its status.
type DMTarget struct {
	// Start and Length are in sectors of 512 bytes.
	Start, Length uint64
	Type          string // "thin-pool", "linear"
	// Params is what follows the type, as "dmsetup table" or "dmsetup status"
	// shows it.
	Params string
}

// dmSpecLen is the size of struct dm_target_spec, dmTypeAt where the type begins
// and dmTypeLen its length (include/uapi/linux/dm-ioctl.h).
const (
	dmSpecLen = 40
	dmTypeAt  = 24
	dmTypeLen = 16
)

// parseDMTargets reads what DM_TABLE_STATUS puts behind its header: count times a
// struct dm_target_spec with the text of its parameters. The field next of each is
// the distance of the following one from the start of data (dm-ioctl.c,
// retrieve_status).
func parseDMTargets(data []byte, count uint32) ([]DMTarget, error) {
	var all []DMTarget
	at := uint64(0)
	for range count {
		if at+dmSpecLen > uint64(len(data)) {
			return nil, fmt.Errorf("line %d of a device-mapper table begins at byte %d of %d", len(all)+1, at, len(data))
		}
		spec := data[at:]
		next := uint64(binary.NativeEndian.Uint32(spec[20:]))
		if next < at+dmSpecLen || next > uint64(len(data)) {
			return nil, fmt.Errorf("line %d of a device-mapper table ends at byte %d of %d", len(all)+1, next, len(data))
		}
		all = append(all, DMTarget{
			Start: binary.NativeEndian.Uint64(spec), Length: binary.NativeEndian.Uint64(spec[8:]),
			Type: cString(spec[dmTypeAt : dmTypeAt+dmTypeLen]), Params: cString(data[at+dmSpecLen : next]),
		})
		at = next
	}
	return all, nil
}

func cString(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}
