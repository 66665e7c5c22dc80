package target

import (
	"fmt"
	"math/rand/v2"
)

// blankSamples is how many blocks are looked at: of a drive of which one in a
// hundred was never written, 256 miss it one time in thirteen. A disk that turns
// takes three seconds for them.
const (
	blankSamples = 256
	blankBlock   = 4096
)

// SampleBlank reads blocks spread over the first size bytes of the device and
// says how many of them hold nothing but zeros or nothing but ones. That is what
// most drives answer for blocks that were never written or were trimmed, from
// their tables and without reading flash (NVMe, Identify Namespace, DLFEAT).
func (d *Device) SampleBlank(size int64) (sampled, blank int64, err error) {
	r, err := openDirect(d.Path)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	blocks := min(size, d.Size()) / blankBlock
	if blocks == 0 {
		return 0, 0, fmt.Errorf("sample %s: it is smaller than a block", d.Path)
	}
	n := min(blankSamples, blocks)
	buf := make([]byte, blankBlock)
	for i := range n {
		// One at random in each of n equal parts.
		from, to := blocks*i/n, blocks*(i+1)/n
		if _, err := r.ReadAt(buf, (from+rand.Int64N(to-from))*blankBlock); err != nil {
			return 0, 0, fmt.Errorf("sample %s: %w", d.Path, err)
		}
		if isBlank(buf) {
			blank++
		}
	}
	return n, blank, nil
}

// isBlank reports whether all bytes are 0, or all are 0xff.
func isBlank(b []byte) bool {
	for _, c := range b {
		if c != b[0] {
			return false
		}
	}
	return b[0] == 0 || b[0] == 0xff
}
