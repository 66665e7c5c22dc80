package sys

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What is no NVMe drive says so with its errno; nothing reads as zeros.
func TestNVMeOnOtherDevices(t *testing.T) {
	if _, err := OpenNVMe(filepath.Join(t.TempDir(), "nvme0")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a device that is not there: %v", err)
	}
	n, err := OpenNVMe("/dev/null")
	if err != nil {
		t.Skip(err)
	}
	defer n.Close()
	if _, err := n.HealthLog(); !errors.Is(err, unix.ENOTTY) {
		t.Errorf("health log of /dev/null: %v", err)
	}
	if _, err := n.IdentifyController(); !errors.Is(err, unix.ENOTTY) {
		t.Errorf("identify of /dev/null: %v", err)
	}
	if _, err := n.Feature(FeatureHCTM, 0); !errors.Is(err, unix.ENOTTY) {
		t.Errorf("feature of /dev/null: %v", err)
	}
}

// A real drive answers; one that refuses a command is a status, not a success.
func TestRealNVMe(t *testing.T) {
	all, _ := filepath.Glob("/dev/nvme[0-9]")
	if len(all) == 0 {
		t.Skip("no NVMe drive here")
	}
	n, err := OpenNVMe(all[0])
	if err != nil {
		t.Skip(err)
	}
	defer n.Close()
	b, err := n.HealthLog()
	if errors.Is(err, unix.EACCES) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if h, err := ParseHealth(b); err != nil || h == (HealthLog{}) {
		t.Errorf("%+v, %v", h, err)
	}
	if b, err = n.IdentifyController(); err != nil {
		t.Fatal(err)
	}
	if c, err := ParseIdentifyController(b); err != nil || c.Model == "" {
		t.Errorf("%+v, %v", c, err)
	}
	v, err := n.Feature(FeaturePowerManagement, 0)
	if err != nil || PowerStateOf(v) > 31 {
		t.Errorf("power management: %#x, %v", v, err)
	}
	// A feature that the specification reserves.
	_, err = n.Feature(0x7a, 0)
	var status *StatusError
	if !errors.As(err, &status) || status.SCT() != 0 || status.SC() != 2 {
		t.Errorf("a feature that does not exist: %v", err)
	}
}
