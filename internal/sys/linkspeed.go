package sys

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseLinkSpeed reads the kernel's name of a PCIe speed, in MT/s: "8 GT/s" up
// to Linux 5.8, "8.0 GT/s PCIe" since, "Unknown" where there is no link to see
// (drivers/pci/probe.c, pci_speed_string).
func ParseLinkSpeed(s string) (mts int, err error) {
	s = strings.TrimSpace(s)
	gts, ok := strings.CutSuffix(strings.TrimSuffix(s, " PCIe"), " GT/s")
	if !ok {
		return 0, fmt.Errorf("parse link speed %q: it is not in GT/s", s)
	}
	whole, tenths, _ := strings.Cut(gts, ".")
	n, err := strconv.ParseUint(whole, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("parse link speed %q: %w", s, err)
	}
	mts = int(n) * 1000
	if tenths != "" {
		t, err := strconv.ParseUint(tenths, 10, 8)
		if err != nil || len(tenths) != 1 {
			return 0, fmt.Errorf("parse link speed %q: %q are not tenths", s, tenths)
		}
		mts += int(t) * 100
	}
	if mts == 0 {
		return 0, fmt.Errorf("parse link speed %q: it is zero", s)
	}
	return mts, nil
}
