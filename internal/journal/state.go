package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// StateDir returns the absolute state directory and creates it:
// $NATIV_STATE_DIR, else /var/lib/nativ for root (euid 0), else nativ below
// $XDG_STATE_HOME or ~/.local/state. Root's is made 0755, because the mapped
// root of an unprivileged container must get through it to its root file
// system; a user's 0700.
func StateDir(getenv func(string) string, euid int) (string, error) {
	dir, err := stateDir(getenv, euid)
	if err != nil {
		return "", fmt.Errorf("find state directory: %w", err)
	}
	mode := os.FileMode(0o700)
	if euid == 0 {
		mode = 0o755
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return "", fmt.Errorf("create state directory: %w", err)
	}
	// Whatever the umask made of it.
	if err := os.Chmod(dir, mode); err != nil {
		return "", fmt.Errorf("create state directory: %w", err)
	}
	return dir, nil
}

func stateDir(getenv func(string) string, euid int) (string, error) {
	if d := getenv("NATIV_STATE_DIR"); d != "" {
		return filepath.Abs(d)
	}
	if euid == 0 {
		return "/var/lib/nativ", nil
	}
	// The XDG base directory specification: a relative path is ignored.
	if d := getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "nativ"), nil
	}
	if d := getenv("HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, ".local", "state", "nativ"), nil
	}
	return "", errors.New("HOME is not set; set NATIV_STATE_DIR to a directory of yours")
}

// bootIDFile is random for each boot (random(4)).
const bootIDFile = "/proc/sys/kernel/random/boot_id"

// BootID identifies the boot of the running kernel.
func BootID() (string, error) {
	f, err := os.Open(bootIDFile)
	if err != nil {
		return "", fmt.Errorf("read boot id: %w", err)
	}
	defer f.Close()
	id, err := parseBootID(f)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", bootIDFile, err)
	}
	return id, nil
}

func parseBootID(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, 64))
	if err != nil {
		return "", err
	}
	id := strings.TrimSuffix(string(b), "\n")
	if len(id) != 36 || strings.Trim(id, "0123456789abcdef-") != "" {
		return "", fmt.Errorf("%q is not a boot id", id)
	}
	return id, nil
}
