package vm

import "testing"

// The harness itself: what the other tests stand on.
func TestMachine(t *testing.T) {
	m := boot(t, nvmeDrive())
	m.loadNVMe("", "nvme0n1")
	m.setTemperature("nvme0", 340)
	if mc := m.sh("cat /sys/class/nvme/nvme0/hwmon*/temp1_input"); mc != "66850" {
		t.Errorf("the kernel reads %s m°C of a drive at 340 K, want 66850", mc)
	}
	if r := m.run("sh", "-c", "echo out; echo err >&2; exit 3"); r.code != 3 || r.stdout != "out\n" || r.stderr != "err\n" {
		t.Errorf("sh came to %+v", r)
	}
	p := m.start("sleep", "600")
	p.signal(15)
	if r := p.wait(); r.code != 128+15 {
		t.Errorf("a program that was ended by SIGTERM has exit code %d", r.code)
	}
}
