package report

import (
	"strings"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

func TestNumbers(t *testing.T) {
	de, en := newSpeaker("de", nil), newSpeaker("en", nil)
	for _, c := range []struct{ got, want string }{
		{de.fixed(11328.4, 1), "11.328,4"},
		{en.fixed(11328.4, 1), "11,328.4"},
		{en.fixed(-0.04, 1), "0.0"},
		{en.fixed(0.95, 0), "1"},
		{de.tenths(-244), "-24,4"},
		{de.tenths(0), "0,0"},
		{de.tenths(3), "+0,3"},
		{en.tenths(-12345), "-1,234.5"},
		{en.short(612_437), "612,400"},
		{en.short(1_981_914), "1,982,000"},
		{en.short(9_999.6), "10,000"},
		{en.short(3_399.7), "3,400"},
		{en.short(780.4), "780"},
		{en.short(60.84), "60.8"},
		{en.short(2.006), "2.01"},
		{en.short(0), "0"},
		{en.bytes(999), "999 B"},
		{en.bytes(999_999_999), "1 GB"},
		{en.bytes(1_000_204_886_016), "1 TB"},
		{en.bytes(1_500_000_000_000), "1.5 TB"},
		{de.binary(1536), "1,5 KiB"},
		{de.binary(16 << 30), "16 GiB"},
		{en.duration(84), "84 ns"},
		{en.duration(999.6), "1.00 µs"},
		{en.duration(84_210), "84.2 µs"},
		{en.duration(999_600), "1.00 ms"},
		{de.duration(1_234_567), "1,23 ms"},
		{en.duration(30e9), "30.0 s"},
		{en.seconds(5e9), "5 s"},
		{de.seconds(2.5e9), "2,5 s"},
		{en.seconds(333_333_333), "0.33 s"},
		{en.celsius(-1_400), "-1"},
		{de.cpuCount(1), "1 CPU"},
		{de.cpuCount(1024), "1.024 CPUs"},
		{en.list([]string{"a"}), "a"},
		{en.list([]string{"a", "b", "c"}), "a, b and c"},
		{blockSize(4096), "4K"},
		{blockSize(1 << 20), "1M"},
		{blockSize(512), "512"},
		{pcie(32000, 4), "5.0 x4"},
		{pcie(24000, 2), "24 GT/s x2"},
		{clock(84*time.Second + 600*time.Millisecond), "1:25"},
		{clock(-time.Second), "0:00"},
	} {
		if got := strings.ReplaceAll(c.got, glue, " "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestData(t *testing.T) {
	serial := "SER1AL99"
	s := newSpeaker("en", &record.Record{Target: record.Target{Drives: []record.Drive{{Serial: &serial}}}})
	for in, want := range map[string]string{
		"WD_BLACK SN770 1TB":             "WD_BLACK SN770 1TB",
		"\x1b[31mred\x1b[0m":             "[31mred[0m",
		"a\nb\tc\u00a0d  e":              "a b c d e",
		"\u202egpj.exe\u200b\u0007":      "gpj.exe",
		"bad \xff utf8":                  "bad \ufffd utf8",
		"by-id/nvme-X_SER1AL99-part1":    "by-id/nvme-X_***-part1",
		"by-id/nvme-x_ser1al99 SER1AL99": "by-id/nvme-x_*** ***",
		strings.Repeat("x", 1000):        strings.Repeat("x", 299) + "…",
		"   ":                            "",
	} {
		if got := s.data(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func FuzzData(f *testing.F) {
	f.Add("a\x1b[2J\nb", "b")
	f.Add("İ SER1AL", "ser1al")
	f.Fuzz(func(t *testing.T, in, serial string) {
		s := newSpeaker("de", &record.Record{Target: record.Target{Drives: []record.Drive{{Serial: &serial}}}})
		got := s.data(in)
		for _, r := range got {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || string(r) == glue {
				t.Fatalf("%q became %q", in, got)
			}
		}
	})
}

func TestLiveLine(t *testing.T) {
	quick := job.Quick()
	rec := healthy()
	l := Live{
		Phase: &quick.Phases[1], Place: record.PlacePinned, Pass: 12, Passes: 30, Left: 84 * time.Second,
		IOPS: new(498_212.0), BytesPerSec: new(2_040_676_352.0), P99NS: new(int64(231_000)), TemperatureMC: new(int64(58_149)),
	}
	for _, c := range []struct {
		lang  string
		width int
		want  string
	}{
		{"de", 0, "12/30  Zufällig schreiben 4K  Host, 4 CPUs  noch 1:24  498.200 IOPS  2.041 MB/s  p99 231 µs  58 °C"},
		{"en", 0, "12/30  Random write 4K  Host, 4 CPUs  1:24 left  498,200 IOPS  2,041 MB/s  p99 231 µs  58 °C"},
		{"de", 80, "Zufällig schreiben 4K  Host, 4 CPUs  noch 1:24  498.200 IOPS  p99 231 µs  58 °C"},
		{"de", 70, "Zufällig schreiben 4K  Host, 4 CPUs  noch 1:24  498.200 IOPS  58 °C"},
		{"de", 40, "Zufällig schreiben 4K  Host, 4 CPUs  noc"},
	} {
		if got := LiveLine(rec, l, c.lang, c.width); got != c.want {
			t.Errorf("%s %d: got %q, want %q", c.lang, c.width, got, c.want)
		}
	}
	prefill := job.Prefill()
	if got, want := LiveLine(nil, Live{Phase: &prefill, Left: 6 * time.Second, BytesPerSec: new(2.7e9)}, "en", 80),
		"Writing the test file  0:06 left  2,700 MB/s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := LiveLine(nil, Live{Phase: &quick.Phases[2], Place: record.PlaceLXC}, "de", 80); got != "Seq. lesen 128K  LXC  noch 0:00" {
		t.Errorf("without numbers: %q", got)
	}
}
