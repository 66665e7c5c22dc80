package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"nativ/internal/job"
	"nativ/internal/record"
)

// absent stands in tables for what is not known.
const absent = "–"

// A speaker formats numbers and names in one language.
type speaker struct {
	*messages
	p *message.Printer
	// secrets are serial numbers, which appear in no text.
	secrets []string
}

func newSpeaker(lang string, rec *record.Record) *speaker {
	m := catalogue(lang)
	s := &speaker{messages: m, p: message.NewPrinter(m.tag)}
	if rec == nil {
		return s
	}
	for i := range rec.Target.Drives {
		// Two letters or digits identify nothing and would spoil other words.
		if sn := rec.Target.Drives[i].Serial; sn != nil && len(strings.TrimSpace(*sn)) > 2 {
			s.secrets = append(s.secrets, strings.TrimSpace(*sn))
		}
	}
	return s
}

// data makes a string that comes from outside fit to print: on one line, without
// control and format characters (an escape sequence in a drive's model name must
// not reach a terminal, a bidi override not a reader), serial numbers or
// no-break spaces, and of bounded length.
func (s *speaker) data(v string) string {
	v = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(v, "\ufffd"), unicode.IsSpace), " ")
	v = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, v)
	for _, secret := range s.secrets {
		v = replaceFold(v, secret, "***")
	}
	const limit = 300
	if r := []rune(v); len(r) > limit {
		v = string(r[:limit-1]) + "…"
	}
	return v
}

// replaceFold replaces old without regard to ASCII case; paths and names of
// volumes carry serial numbers in either.
func replaceFold(s, old, with string) string {
	var b strings.Builder
	for {
		i := strings.Index(strings.ToLower(s), strings.ToLower(old))
		// Lower case of another length than the original (there are such
		// runes) would cut in the wrong place.
		if i < 0 || len(strings.ToLower(s)) != len(s) || len(strings.ToLower(old)) != len(old) {
			b.WriteString(strings.ReplaceAll(s, old, with))
			return b.String()
		}
		b.WriteString(s[:i] + with)
		s = s[i+len(old):]
	}
}

// fixed formats v with so many decimals.
func (s *speaker) fixed(v float64, decimals int) string {
	v = math.Round(v*math.Pow10(decimals)) / math.Pow10(decimals)
	if v == 0 {
		v = 0 // no negative zero
	}
	return s.p.Sprint(number.Decimal(v, number.Scale(decimals)))
}

// short formats v with four significant digits at most, and with at most two
// decimals: what a mean of a few short passes can carry.
func (s *speaker) short(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 1e4:
		unit := math.Pow10(int(math.Floor(math.Log10(a))) - 3)
		return s.fixed(math.Round(v/unit)*unit, 0)
	case a >= 100 || a == 0:
		return s.fixed(v, 0)
	case a >= 10:
		return s.fixed(v, 1)
	default:
		return s.fixed(v, 2)
	}
}

func (s *speaker) int(n int64) string { return s.p.Sprint(number.Decimal(n)) }

// unit joins a number and its unit.
func unit(n, u string) string { return n + glue + u }

// bytes formats a size in the decimal units of drives.
func (s *speaker) bytes(n int64) string {
	return s.scaled(float64(n), 1000, []string{"B", "kB", "MB", "GB", "TB", "PB"})
}

// binary formats a size in binary units.
func (s *speaker) binary(n int64) string {
	return s.scaled(float64(n), 1024, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"})
}

func (s *speaker) scaled(v, base float64, units []string) string {
	i := 0
	// 999.6 of a unit would print as 1,000 of it.
	for math.Abs(v) >= base-0.5 && i < len(units)-1 {
		v, i = v/base, i+1
	}
	decimals := 0
	if math.Abs(v) < 10 && math.Abs(math.Round(v)-v) >= 0.05 {
		decimals = 1
	}
	return unit(s.fixed(v, decimals), units[i])
}

// blockSize formats a block size as fio does: 4K, 128K, 1M.
func blockSize(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%dM", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%dK", n>>10)
	}
	return strconv.FormatInt(n, 10)
}

// blockSizes is the block size of a phase, absent where it has many.
func blockSizes(j *job.Phase) string {
	if j.VariesBlocks() {
		return absent
	}
	return blockSize(j.BlockSize)
}

// duration formats a latency or a CPU time in nanoseconds.
func (s *speaker) duration(ns float64) string {
	for _, u := range []struct {
		ns   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.ns*0.9995 {
			return unit(s.threeDigits(ns/u.ns), u.name)
		}
	}
	return unit(s.fixed(ns, 0), "ns")
}

func (s *speaker) threeDigits(v float64) string {
	switch {
	case v >= 99.95:
		return s.fixed(v, 0)
	case v >= 9.995:
		return s.fixed(v, 1)
	}
	return s.fixed(v, 2)
}

// seconds formats a time of a plan: "5 s", "2.5 s".
func (s *speaker) seconds(ns int64) string {
	v := float64(ns) / 1e9
	for d := range 3 {
		if r := math.Pow10(d); math.Abs(math.Round(v*r)/r-v) < 1e-9 || d == 2 {
			return unit(s.fixed(v, d), "s")
		}
	}
	return ""
}

// clock formats a time as minutes and seconds.
func clock(d time.Duration) string {
	sec := int64(max(d, 0).Round(time.Second) / time.Second)
	return fmt.Sprintf("%d:%02d", sec/60, sec%60)
}

// celsius formats millidegrees without a unit.
func (s *speaker) celsius(mc int64) string { return s.fixed(float64(mc)/1000, 0) }

// percent formats a fraction in whole percent without a sign for it.
func (s *speaker) percent(f float64) string { return s.fixed(f*100, 0) }

// tenths formats tenths of a percent with their sign.
func (s *speaker) tenths(n int64) string {
	v := s.fixed(float64(n)/10, 1)
	if n > 0 {
		return "+" + v
	}
	return v
}

func (s *speaker) cpuCount(n int) string {
	if n == 1 {
		return s.oneCPU
	}
	return fmt.Sprintf(s.nCPUs, s.int(int64(n)))
}

func (s *speaker) testCount(n int) string {
	if n == 1 {
		return s.oneTest
	}
	return fmt.Sprintf(s.nTests, s.int(int64(n)))
}

// list joins words: "a, b and c".
func (s *speaker) list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + s.and + " " + words[last]
}

func kindOf(j *job.Phase) kind {
	if j.FDataSync > 0 {
		return kindSync
	}
	return kind(j.Mode)
}

// ours reports whether a phase is one that has a name in each language; one
// from the user's job file has the name that the user gave it.
func (s *speaker) ours(j *job.Phase) bool {
	switch j.Name {
	case job.RandRead4K, job.RandWrite4K, job.Read128K, job.Write128K, job.SyncWrite4K:
		return s.phase[kindOf(j)] != ""
	}
	return false
}

// shortName is that name, without the block size; "" where there is none.
func (s *speaker) shortName(j *job.Phase) string {
	switch {
	case j.Name == "fill-1m": // of the preset fill
		return s.drops.fillName
	case j.Name == "probe-1m":
		return s.drops.probeName
	case s.ours(j):
		return s.phase[kindOf(j)]
	}
	return ""
}

// phaseName is the name of a phase, such as "Random read 4K".
func (s *speaker) phaseName(j *job.Phase) string {
	if j.Name == "prefill" {
		return s.prefill
	}
	if name := s.shortName(j); name != "" {
		return name + glue + blockSize(j.BlockSize)
	}
	return s.data(j.Name)
}

// inPhaseName is that name in a sentence: "in random reads".
func (s *speaker) inPhaseName(j *job.Phase) string {
	if !s.ours(j) {
		return fmt.Sprintf(s.inOther, s.data(j.Name))
	}
	return s.inPhase[kindOf(j)]
}

// inIOPS reports whether people name a phase's speed in I/Os per second and not
// in bytes.
func inIOPS(j *job.Phase) bool { return j.Mode.Random() || j.BlockSize <= 16<<10 }

// pcie writes a link as "4.0 x4"; the generation is named by its rate (PCI
// Express Base Specification 6.0, 1.2).
func pcie(mts, width float64) string {
	gen := map[int]string{2500: "1.0", 5000: "2.0", 8000: "3.0", 16000: "4.0", 32000: "5.0", 64000: "6.0", 128000: "7.0"}[int(mts)]
	if gen == "" {
		gen = fmt.Sprintf("%g GT/s", mts/1000)
	}
	return fmt.Sprintf("%s%sx%d", gen, glue, int(width))
}
