package audit

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// numberForm is a number with groups of digits or decimals in German or English,
// and a factor behind it.
var numberForm = regexp.MustCompile(`^[~≈<>]?\s*([0-9][0-9.,'’\x{00a0}\x{202f} ]*)\s*([a-zA-Zµμ°%/]*)`)

// units of rates, times and temperatures, in base units (bytes a second,
// nanoseconds, millidegrees), by their spelling in lower case.
var (
	rateUnits = map[string]float64{
		"b/s": 1, "kb/s": 1e3, "mb/s": 1e6, "gb/s": 1e9, "tb/s": 1e12, "kib/s": 1 << 10, "mib/s": 1 << 20, "gib/s": 1 << 30,
		"mbps": 1e6, "gbps": 1e9,
	}
	timeUnits  = map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "usec": 1e3, "ms": 1e6, "msec": 1e6, "s": 1e9, "sec": 1e9}
	factors    = map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "tsd": 1e3, "mio": 1e6}
	tempUnits  = map[string]float64{"": 1000, "°c": 1000, "c": 1000, "°": 1000}
	iopsEnding = []string{"iops", "io/s", "ios"}
)

// parseNumber reads the digits of a printed number. A lone group of three behind a
// point or comma is taken for thousands where thousands says so: 1.976 IOPS are
// not two I/Os.
func parseNumber(s string, thousands bool) (v, ulp float64, ok bool) {
	s = strings.Trim(s, " \u00a0\u202f.,")
	s = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "'", "", "’", "").Replace(s)
	if s == "" {
		return 0, 0, false
	}
	dots, commas := strings.Count(s, "."), strings.Count(s, ",")
	grouped := func(sep string) bool {
		parts := strings.Split(s, sep)
		for i, p := range parts {
			if i == 0 && (len(p) == 0 || len(p) > 3 || p == "0") || i > 0 && len(p) != 3 {
				return false
			}
		}
		return true
	}
	switch {
	case dots > 0 && commas > 0:
		// The one behind is the decimal sign.
		if strings.LastIndex(s, ".") > strings.LastIndex(s, ",") {
			s = strings.ReplaceAll(s, ",", "")
		} else {
			s = strings.ReplaceAll(strings.ReplaceAll(s, ".", ""), ",", ".")
		}
		if strings.Count(s, ".") != 1 {
			return 0, 0, false
		}
	case dots > 1:
		if !grouped(".") {
			return 0, 0, false
		}
		s = strings.ReplaceAll(s, ".", "")
	case commas > 1:
		if !grouped(",") {
			return 0, 0, false
		}
		s = strings.ReplaceAll(s, ",", "")
	case dots == 1:
		if thousands && grouped(".") {
			s = strings.ReplaceAll(s, ".", "")
		}
	case commas == 1:
		if thousands && grouped(",") {
			s = strings.ReplaceAll(s, ",", "")
		} else {
			s = strings.ReplaceAll(s, ",", ".")
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) || v > 1e18 {
		return 0, 0, false
	}
	return v, lastDigit(s), true
}

// lastDigit is what the last significant digit of a plain number is worth: of
// 428000 it is 1000, since nobody measures three zeros.
func lastDigit(s string) float64 {
	if strings.ContainsAny(s, "eE") {
		return 0
	}
	if whole, frac, ok := strings.Cut(s, "."); ok {
		_ = whole
		return math.Pow10(-len(frac))
	}
	zeros := len(s) - len(strings.TrimRight(s, "0"))
	if zeros < 2 || zeros == len(s) {
		return 1 // a single zero is one in ten anyway
	}
	return math.Pow10(zeros)
}

// parseCell reads a cell: digits, a factor or unit. def is the unit of the head,
// which a unit in the cell overrides; units are those that fit the column.
func parseCell(s string, units map[string]float64, def float64) (Number, bool) {
	text := strings.TrimSpace(strings.Trim(strings.TrimSpace(s), "*_`"))
	m := numberForm.FindStringSubmatch(text)
	if m == nil {
		return Number{}, false
	}
	unit := strings.ToLower(m[2])
	scale := def
	switch f, isFactor := factors[unit]; {
	case unit == "":
	case units[unit] > 0:
		scale = units[unit]
	case isFactor:
		scale = def * f
	default:
		known := false
		for _, e := range iopsEnding {
			if rest, ok := strings.CutSuffix(unit, e); ok && factors[rest] > 0 {
				scale, known = factors[rest], true
			}
		}
		if !known {
			return Number{}, false
		}
	}
	// Thousands are likely without a factor: 1.976k has none, 7.220 MiB/s has.
	_, isFactor := factors[unit]
	v, ulp, ok := parseNumber(m[1], unit == "" || !isFactor)
	if !ok {
		return Number{}, false
	}
	return Number{V: v * scale, ULP: ulp * scale, Text: text}, true
}

// jsonNumber is a number of JSON in a unit.
func jsonNumber(text string, scale float64, unit string) (*Number, bool) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) || v > 1e15 {
		return nil, false
	}
	ulp := lastDigit(text)
	return &Number{V: v * scale, ULP: ulp * scale, Text: strings.TrimSpace(text + " " + unit)}, true
}
