package sensor

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

func TestParseKmsg(t *testing.T) {
	in := `6,7,100,-;Linux version 6.1
4,8,2000000,-;nvme nvme0: I/O 12 QID 4 timeout, aborting
 SUBSYSTEM=nvme
 DEVICE=c241:0
30,11,3000000,-,caller=T1;systemd says\x0asomething; with a semicolon
not a line
3,x,1,-;bad number
6,13,-5,-;before the start
6,14,5,-;`
	want := []message{
		{6, 7, 0, 100_000, "Linux version 6.1"},
		{4, 8, 0, 2_000_000_000, "nvme nvme0: I/O 12 QID 4 timeout, aborting"},
		{6, 11, 2, 3_000_000_000, `systemd says\x0asomething; with a semicolon`},
		{6, 14, 2, 5000, ""},
	}
	got, bad := parseKmsg([]byte(in))
	if len(got) != len(want) || bad != 3 {
		t.Fatalf("%+v, %d bad", got, bad)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

func FuzzParseKmsg(f *testing.F) {
	f.Add([]byte("4,8,2000000,-;nvme nvme0: I/O 12 QID 4 timeout, aborting\n SUBSYSTEM=nvme\n"))
	f.Add([]byte("30,18446744073709551615,9,c,caller=T1;\x1b[31m\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		messages, bad := parseKmsg(in)
		if bad+len(messages) > strings.Count(string(in), "\n")+1 {
			t.Errorf("%q: %d messages and %d bad lines", in, len(messages), bad)
		}
		for _, m := range messages {
			if m.level < 0 || m.level > 7 || m.monoNS < 0 || strings.ContainsFunc(m.text, func(r rune) bool { return r < ' ' }) {
				t.Errorf("%q: %+v", in, m)
			}
		}
	})
}

func TestKernelLog(t *testing.T) {
	const sata = "sys/devices/pci0/ata3/host2/target2:0:0/2:0:0:0/"
	a := tree(t, "nvme")
	write(t, a.Dev+"/kmsg", "") // replaced below
	// Wording of drivers/nvme/host/{core,pci}.c, block/blk-core.c,
	// drivers/pci/pcie/{aer,..}.c, drivers/ata/libata-*.c, of several versions.
	lines := []struct {
		level int
		text  string
		kind  string // "" where it is not about the drive, or is no news
	}{
		{4, "nvme nvme0: I/O 12 QID 4 timeout, aborting", "timeout"},
		{4, "nvme nvme0: I/O tag 12 (300c) opcode 0x1 (Write) QID 4 timeout, reset controller", "timeout"},
		{4, "nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10", "reset"},
		{4, "nvme nvme0: resetting controller", "reset"},
		{3, "nvme nvme0: Device not ready; aborting reset, CSTS=0x1", "reset"},
		{6, "nvme nvme0: 8/0/0 default/read/poll queues", ""},
		{4, "nvme nvme0: Does your device have a faulty power saving mode enabled?", "other"},
		{3, "I/O error, dev nvme0n1, sector 2048 op 0x1:(WRITE) flags 0x8800 phys_seg 1 prio class 2", "io-error"},
		{3, "blk_update_request: critical medium error, dev nvme0n1, sector 5", "io-error"},
		{3, "Buffer I/O error on dev nvme0n1p3, logical block 0, async page read", "io-error"},
		{3, "nvme0c0n1: I/O Cmd(0x2) @ LBA 0, 8 blocks, I/O Error (sct 0x2 / sc 0x81)", "io-error"},
		{4, "pcieport 0000:00:01.0: AER: Multiple Corrected error received: 0000:00:02.0", "pcie-error"},
		{4, "nvme 0000:00:02.0: PCIe Bus Error: severity=Corrected, type=Physical Layer", "pcie-error"},
		{4, "nvme 0000:00:02.0: 7.876 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x1 link", "link"},
		{6, " nvme0n1: p1 p2 p3", ""},
		// Others.
		{3, "I/O error, dev nvme0n10, sector 1", ""},
		{3, "I/O error, dev nvme10n1, sector 1", ""},
		{4, "nvme nvme1: resetting controller", ""},
		{4, "nvme 0000:00:02.01: PCIe Bus Error", ""},
		{3, "EXT4-fs error (device sdb1)", ""},
		// The SATA drive beside.
		{3, "ata3.00: exception Emask 0x0 SAct 0x1 SErr 0x0 action 0x6 frozen", "io-error"},
		{3, "ata3: hard resetting link", "reset"},
		{6, "ata3: SATA link down (SStatus 0 SControl 300)", "link"},
		{6, "ata30: SATA link down (SStatus 0 SControl 300)", ""},
		{6, "sd 2:0:0:0: [sda] tag#7 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_TIMEOUT cmd_age=30s", ""},
		{4, "sd 2:0:0:0: device offlined: timing out command, waited 180s timed out", "timeout"},
		{3, "I/O error, dev sda, sector 9", "io-error"},
		{3, "I/O error, dev sdaa, sector 9", ""},
	}
	var log strings.Builder
	log.WriteString("3,0,1,-;nvme nvme0: resetting controller\n") // before the run
	want := []record.KernelLine{}
	for i, l := range lines {
		us := int64(10_000_000 + i)
		log.WriteString(strings.Join([]string{string(rune('0' + l.level)), strconv.Itoa(i + 1), strconv.FormatInt(us, 10), "-;" + l.text + "\n"}, ","))
		if l.kind != "" {
			want = append(want, record.KernelLine{MonoNS: us * 1000, Level: l.level, Text: l.text, Kind: l.kind})
		}
	}
	write(t, a.Dev+"/kmsg", log.String())
	write(t, strings.TrimSuffix(a.Sys, "sys")+sata+"block/sda/size", "1")
	symlink(t, "../devices/pci0/ata3/host2/target2:0:0/2:0:0:0/block/sda", a.Sys+"/block/sda")
	symlink(t, "../../../2:0:0:0", strings.TrimSuffix(a.Sys, "sys")+sata+"block/sda/device")
	drives := []record.Drive{{Name: "nvme0n1"}, {Name: "sda"}}
	got, missing := KernelLog(a, drives, 5e9)
	if missing != "" {
		t.Error(missing)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	write(t, a.Dev+"/kmsg", "3,5,9000000,-;a\n3,9,9000001,-;nvme nvme0: resetting controller\n")
	if got, missing := KernelLog(a, drives, 0); len(got) != 1 || !strings.HasPrefix(missing, "3 lines of") {
		t.Errorf("%+v, %q", got, missing)
	}
	write(t, a.Dev+"/kmsg", "3,5,9000000,-;a\n")
	if got, missing := KernelLog(a, drives, 0); len(got) != 0 || !strings.Contains(missing, "log_buf_len") {
		t.Errorf("%+v, %q", got, missing)
	}
	if got, missing := KernelLog(a, nil, 0); len(got) != 0 {
		t.Errorf("no drive, but %+v, %q", got, missing)
	}
	if got, missing := KernelLog(makeTree(t, nil), drives, 0); got != nil || !strings.Contains(missing, "run on the host") {
		t.Errorf("%+v, %q", got, missing)
	}
	// The log's own clock is 30 ms ahead.
	write(t, a.Dev+"/kmsg", "3,0,9000000,-;nvme nvme0: resetting controller\n")
	write(t, a.Sys+"/kernel/debug/sched/debug", schedDebug)
	if got, _ := KernelLog(a, drives, 0); len(got) != 1 || got[0].MonoNS != 9e9-29_526_885 {
		t.Errorf("%+v", got)
	}
}

const schedDebug = `Sched Debug Version: v0.11, 6.1.0-57-amd64 #1
ktime                                   : 58723.885210
sched_clk                               : 58887.283596
cpu_clk                                 : 58753.412095
jiffies                                 : 4294906883
`

func TestParseSchedClock(t *testing.T) {
	if got, ok := parseSchedClock(schedDebug); !ok || got != 58723885210-58753412095 {
		t.Errorf("%d, %v", got, ok)
	}
	for _, in := range []string{"", "ktime : 1.000000\n", "ktime : 1\ncpu_clk : 1.000000\n", "ktime : x.000000\ncpu_clk : 1.000000\n"} {
		if got, ok := parseSchedClock(in); ok {
			t.Errorf("%q was taken: %d", in, got)
		}
	}
}

func FuzzParseSchedClock(f *testing.F) {
	f.Add(schedDebug)
	f.Fuzz(func(t *testing.T, in string) {
		if n, ok := parseSchedClock(in); !ok && n != 0 {
			t.Errorf("%q: %d", in, n)
		}
	})
}
