package sensor

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/record"
)

// KernelLog returns the lines of the kernel's log since a moment of
// CLOCK_MONOTONIC that are about the drives, their controllers and their PCIe
// ports: resets, timeouts, I/O errors, links that went down. missing says why
// the log could not be read, or that a part of it was gone; "" where all is
// there.
//
// The log's clock is not CLOCK_MONOTONIC but runs beside it without being
// corrected, a second off after days; where debugfs tells both, times are
// corrected.
func KernelLog(roots Roots, drives []record.Drive, sinceMonoNS int64) (lines []record.KernelLine, missing string) {
	text, err := readKernelLog(roots.dev("kmsg"))
	if err != nil {
		return nil, err.Error()
	}
	offset := kernelClockOffset(roots)
	about := aboutDrives(roots, drives)
	messages, bad := parseKmsg(text)
	first := true
	for _, m := range messages {
		at := m.monoNS + offset
		if at < sinceMonoNS {
			first = false
			continue
		}
		if first && m.sequence > 0 {
			missing = "the beginning of the kernel's log was overwritten before it was read; a larger log_buf_len keeps it"
		}
		first = false
		if m.lost > 0 {
			missing = fmt.Sprintf("%d lines of the kernel's log were overwritten before they were read", m.lost)
		}
		if !about(m.text) {
			continue
		}
		kind := kindOfLine(m.text)
		if kind == kindOther && m.level > levelWarning {
			continue // what a drive says when it is well
		}
		lines = append(lines, record.KernelLine{MonoNS: at, Level: m.level, Text: m.text, Kind: kind})
	}
	if bad > 0 && missing == "" {
		missing = fmt.Sprintf("%d lines of the kernel's log could not be understood", bad)
	}
	return lines, missing
}

// levelWarning is KERN_WARNING.
const levelWarning = 4

// A message is one of /dev/kmsg.
type message struct {
	level    int // of syslog, without the facility
	sequence uint64
	lost     uint64 // messages that are missing before it
	monoNS   int64  // of the log's own clock
	text     string
}

// parseKmsg parses what was read of /dev/kmsg (Documentation/ABI/testing/dev-kmsg):
// "level,sequence,microseconds,flags;text", and lines that begin with a blank and
// go on with the message before them, as names of a device do, which are left
// out. bad counts lines that are neither.
func parseKmsg(text []byte) (messages []message, bad int) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\n")
		if len(line) == 0 || line[0] == ' ' {
			continue
		}
		prefix, body, ok := bytes.Cut(line, []byte(";"))
		f := strings.Split(string(prefix), ",") // a later kernel may append fields
		if !ok || len(f) < 3 {
			bad++
			continue
		}
		prio, err1 := strconv.ParseUint(f[0], 10, 32)
		seq, err2 := strconv.ParseUint(f[1], 10, 64)
		us, err3 := strconv.ParseInt(f[2], 10, 64)
		if err1 != nil || err2 != nil || err3 != nil || us < 0 || us > 1<<53 {
			bad++
			continue
		}
		m := message{level: int(prio & 7), sequence: seq, monoNS: us * 1000, text: printable(string(body))}
		if n := len(messages); n > 0 && seq > messages[n-1].sequence+1 {
			m.lost = seq - messages[n-1].sequence - 1
		}
		messages = append(messages, m)
	}
	return messages, bad
}

// printable leaves out what no terminal should be sent. The kernel escapes it
// already (\x1b) but for what is valid UTF-8.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\ufffd' || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}

// aboutDrives returns what tells whether a line names one of the drives, a
// partition of it, its controllers, its ATA port or SCSI address, or a PCI
// function on the way to it.
func aboutDrives(roots Roots, drives []record.Drive) func(string) bool {
	var words []string
	add := func(w string) {
		if w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	for _, d := range drives {
		if m := head.FindStringSubmatch(d.Name); m != nil {
			add(regexp.QuoteMeta(d.Name) + `(?:p[0-9]+)?`)
			add("nvme" + m[1] + "c[0-9]+n" + m[2])
		} else {
			add(regexp.QuoteMeta(d.Name) + `p?[0-9]*`)
		}
		for _, c := range controllers(roots, d.Name) {
			add(filepath.Base(c))
			own, port := pciFunctions(filepath.Join(c, "device"))
			add(regexp.QuoteMeta(own.address))
			add(regexp.QuoteMeta(port.address))
		}
		dev, _ := filepath.EvalSymlinks(roots.sys("block", d.Name, "device"))
		for part := range strings.SplitSeq(dev, "/") {
			if ataPort.MatchString(part) {
				add(part + `(?:\.[0-9]+)?`)
			}
		}
		if scsiAddress.MatchString(filepath.Base(dev)) {
			add(regexp.QuoteMeta(filepath.Base(dev)))
		}
	}
	if len(words) == 0 {
		return func(string) bool { return false }
	}
	// \b would let nvme1 match in "nvme1n1": letters and digits are no border,
	// and the dot of an address is part of it.
	re := regexp.MustCompile(`(?:^|[^0-9A-Za-z_])(?:` + strings.Join(words, "|") + `)(?:[^0-9A-Za-z_]|$)`)
	return re.MatchString
}

var (
	ataPort     = regexp.MustCompile(`^ata[0-9]+$`)
	scsiAddress = regexp.MustCompile(`^[0-9]+:[0-9]+:[0-9]+:[0-9]+$`)
)

// Kinds of lines, as record.KernelLine names them.
const (
	kindReset   = "reset"
	kindIOError = "io-error"
	kindTimeout = "timeout"
	kindPCIe    = "pcie-error"
	kindLinkLog = "link"
	kindOther   = "other"
)

// lineKinds are what drivers/nvme/host, drivers/pci/pcie, drivers/ata,
// drivers/scsi and block print, the first that matches. A timeout that ends in a
// reset is the timeout; the reset has a line of its own.
var lineKinds = []struct {
	kind string
	re   *regexp.Regexp
}{
	{kindPCIe, regexp.MustCompile(`(?i)\bAER\b|PCIe Bus Error|DPC: |containment event`)},
	{kindTimeout, regexp.MustCompile(`(?i)\btimeout\b|timed out`)},
	{kindReset, regexp.MustCompile(`(?i)\breset|will reset|controller is down|Device not ready|Removing after probe failure|Disabling device after reset failure`)},
	{kindLinkLog, regexp.MustCompile(`(?i)link (?:is )?(?:down|up)|card (?:not )?present|limited by|PCIe bandwidth|failed to change link`)},
	{kindIOError, regexp.MustCompile(`(?i)I/O error|medium error|critical target error|lost async page write|Unrecovered|failed command|exception Emask|protection error|I/O Cmd\(|rejecting I/O`)},
}

func kindOfLine(text string) string {
	for _, k := range lineKinds {
		if k.re.MatchString(text) {
			return k.kind
		}
	}
	return kindOther
}

// parseSchedClock returns how far CLOCK_MONOTONIC is ahead of the log's clock in
// nanoseconds, from the head of debugfs's sched/debug: ktime and cpu_clk in
// milliseconds with six decimals (kernel/sched/debug.c); cpu_clk is local_clock,
// which printk takes.
func parseSchedClock(text string) (offset int64, ok bool) {
	values := map[string]int64{}
	for line := range strings.Lines(text) {
		key, v, found := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); !found || key != "ktime" && key != "cpu_clk" {
			continue
		}
		whole, frac, _ := strings.Cut(strings.TrimSpace(v), ".")
		ms, err1 := strconv.ParseUint(whole, 10, 43)
		ns, err2 := strconv.ParseUint(frac, 10, 32)
		if err1 != nil || err2 != nil || len(frac) != 6 {
			return 0, false
		}
		values[key] = int64(ms)*1_000_000 + int64(ns)
	}
	if len(values) != 2 {
		return 0, false
	}
	return values["ktime"] - values["cpu_clk"], true
}
