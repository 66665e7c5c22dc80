package vm

import (
	"fmt"
	"strings"
)

// loadNVMe loads the kernel's NVMe driver with options ("poll_queues=1") and
// waits for the namespaces' block devices.
func (m *machine) loadNVMe(options string, devices ...string) {
	m.t.Helper()
	m.sh("modprobe nvme " + options)
	for _, d := range devices {
		m.await("-b /dev/" + d)
	}
}

// await waits for a condition of test(1).
func (m *machine) await(condition string) {
	m.t.Helper()
	m.sh(fmt.Sprintf("for i in $(seq 200); do [ %[1]s ] && exit; sleep 0.05; done; echo '%[1]s did not come true' >&2; exit 1", condition))
}

// ext4 makes a small filesystem on a device, without background work of its
// own, and mounts it.
func (m *machine) ext4(device, dir string) {
	m.t.Helper()
	m.sh(fmt.Sprintf("mkfs.ext4 -q -N 1000 -J size=4 -E lazy_itable_init=0,lazy_journal_init=0,nodiscard %[1]s && mkdir -p %[2]s && mount %[1]s %[2]s", device, dir))
}

// write writes a file in the guest.
func (m *machine) write(path, text string) {
	m.t.Helper()
	m.sh(fmt.Sprintf("cat > %s <<'END'\n%s\nEND", path, strings.TrimSuffix(text, "\n")))
}

// readJob is a workload that one emulated processor has no trouble with.
const readJob = `[read]
rw=randread
bs=4k
iodepth=4
direct=1
time_based
runtime=10
`

// bench is a call of nativ bench with readJob on dir; more are further flags.
func (m *machine) bench(dir string, more ...string) []string {
	m.t.Helper()
	m.write("/tmp/read.fio", readJob)
	return append([]string{"nativ", "bench", "--yes", "--dir", dir, "--job", "/tmp/read.fio", "--size", "64M",
		"--memory", "256M", "--lang", "en", "--json"}, more...)
}

// fio is a call of nativ fio that reads a new file in dir; more are further
// options.
func fio(dir string, more ...string) []string {
	return append([]string{"nativ", "fio", "--yes", "--json", "--lang=en", "--name=read", "--directory=" + dir, "--rw=randread", "--bs=4k", "--iodepth=4",
		"--direct=1", "--size=16M", "--time_based", "--runtime=2"}, more...)
}
