package record

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Redact returns a copy of a record for others to read: without serial numbers and
// other identities of drives, without the names of guests and users, addresses and
// UUIDs. What is replaced has the same stand-in everywhere ("serial-1"), so that
// what belongs together can still be seen. Numbers, model names and whatever nativ
// itself names stay. The name of the machine is in no record.
//
// It knows what it looks for: the values that the record itself says are identities,
// wherever they appear again, and the forms of identities that systems print. Free
// text can hold what no rule knows; a reader of notes is the last to look.
func Redact(rec *Record) *Record {
	s := newScrubber(rec)
	v := reflect.ValueOf(rec).Elem()
	out := reflect.New(v.Type())
	s.copy(out.Elem(), v)
	return out.Interface().(*Record)
}

// A scrubber replaces what identifies somebody.
type scrubber struct {
	// stand is what stands for a known value; values are these, the longest first,
	// because one can be part of another.
	stand  map[string]string
	values []string
	counts map[string]int
	form   map[string]string // what matched a form, with its stand-in
	holds  map[reflect.Type]bool
}

// leastSecret is the length from which a value is looked for in all texts: two
// letters identify nothing and would spoil other words.
const leastSecret = 3

// longSerial is the length from which a serial number is in no other word by chance.
const longSerial = 8

func newScrubber(rec *Record) *scrubber {
	s := &scrubber{stand: map[string]string{}, counts: map[string]int{}, form: map[string]string{}, holds: map[reflect.Type]bool{}}
	for i := range rec.Target.Drives {
		if sn := rec.Target.Drives[i].Serial; sn != nil {
			s.know("serial", *sn)
		}
	}
	for _, n := range rec.Target.Neighbours {
		s.know("guest", n.Name)
	}
	for i := range rec.Places {
		if c := rec.Places[i].Container; c != nil && c.PVE != nil && !c.PVE.Made {
			s.know("guest", c.PVE.Hostname)
		}
	}
	slices.SortFunc(s.values, func(a, b string) int { return len(b) - len(a) })
	return s
}

// common are names of users and guests that are everybody's, and words of nativ's
// own: replacing them would spoil texts and hide nothing.
var common = []string{"root", "host", "pinned", "lxc", "pve", "debian", "ubuntu", "proxmox", "linux", "admin", "user", "test", "none", "nativ", "unknown"}

func (s *scrubber) know(kind, value string) {
	value = strings.TrimSpace(value)
	if len(value) < leastSecret || slices.Contains(common, strings.ToLower(value)) || s.stand[value] != "" {
		return
	}
	s.counts[kind]++
	s.stand[value] = fmt.Sprintf("%s-%d", kind, s.counts[kind])
	s.values = append(s.values, value)
}

// forms are identities by the way that systems write them, in the order in which
// they are looked for. The first group is replaced where there is one.
var forms = []struct {
	kind string
	re   *regexp.Regexp
}{
	{"id", regexp.MustCompile(`/dev/disk/by-(?:id|uuid|partuuid|label|partlabel|path|diskseq)/([^\s"',;:)\]]+)`)},
	{"nqn", regexp.MustCompile(`(?i)\bnqn\.\d{4}-\d{2}\.[^\s"',;)\]]+`)},
	{"uuid", regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)},
	{"eui", regexp.MustCompile(`(?i)\b(?:nvme-)?eui\.[0-9a-f]{16,32}\b`)},
	{"wwn", regexp.MustCompile(`(?i)\b(?:wwn-|naa\.)?0x[0-9a-f]{16,32}\b|\bnaa\.[0-9a-f]{16,32}\b`)},
	{"nguid", regexp.MustCompile(`(?i)\b(?:nguid|uuid|serial(?: number)?|sn)[ =:]+"?([0-9a-z_-]{6,})\b`)},
	{"mac", regexp.MustCompile(`(?i)\b[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b`)},
	{"ip", regexp.MustCompile(`\b(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}\b`)},
	{"ip", regexp.MustCompile(`(?i)\b(?:[0-9a-f]{1,4}:){3,7}(?::?[0-9a-f]{1,4}){1,7}\b|\bfe80::[0-9a-f:]+\b`)},
	{"user", regexp.MustCompile(`(?:/home/|/Users/|/run/media/|/media/)([^/\s"',;:)\]]+)`)},
	{"user", regexp.MustCompile(`\b([A-Za-z0-9._-]+)@[A-Za-z0-9.-]+:`)},
}

// text scrubs one string.
func (s *scrubber) text(v string) string {
	if len(v) < leastSecret {
		return v
	}
	for _, f := range forms {
		v = replaceGroup(f.re, v, func(m string) string { return s.standIn(f.kind, m) })
	}
	for _, known := range s.values {
		// A long serial number is one wherever it stands; a name only by itself.
		part := len(known) >= longSerial && strings.HasPrefix(s.stand[known], "serial-")
		v = replaceKnown(v, known, s.stand[known], part)
	}
	return v
}

// standIn is what stands for a value that has a form.
func (s *scrubber) standIn(kind, value string) string {
	for known, stand := range s.stand {
		if strings.EqualFold(known, value) {
			return stand
		}
	}
	if kind == "user" && slices.Contains(common, strings.ToLower(value)) || isStandIn.MatchString(value) {
		return value
	}
	if s.form[value] == "" {
		s.counts[kind]++
		s.form[value] = fmt.Sprintf("%s-%d", kind, s.counts[kind])
	}
	return s.form[value]
}

var isStandIn = regexp.MustCompile(`^(?:id|nqn|uuid|eui|wwn|nguid|mac|ip|user|serial|guest)-\d+$`)

// replaceGroup replaces each match, or its first group where there is one.
func replaceGroup(re *regexp.Regexp, v string, with func(string) string) string {
	var b strings.Builder
	last := 0
	for _, m := range re.FindAllStringSubmatchIndex(v, -1) {
		from, to := m[0], m[1]
		if len(m) > 2 && m[2] >= 0 {
			from, to = m[2], m[3]
		}
		b.WriteString(v[last:from])
		b.WriteString(with(v[from:to]))
		last = to
	}
	if last == 0 {
		return v
	}
	b.WriteString(v[last:])
	return b.String()
}

// replaceKnown replaces a value, whatever its case, where it stands as a word of its
// own ("web" in "vm/web" and not in "website"), or also as a part of one.
func replaceKnown(v, value, with string, part bool) string {
	low, want := strings.ToLower(v), strings.ToLower(value)
	if len(low) != len(v) || len(want) != len(value) {
		return strings.ReplaceAll(v, value, with) // letters that change their length with their case
	}
	var b strings.Builder
	last := 0
	for at := 0; ; {
		i := strings.Index(low[at:], want)
		if i < 0 {
			break
		}
		from := at + i
		to := from + len(want)
		if at = to; !part && (wordByte(v, from-1) || wordByte(v, to)) {
			continue
		}
		b.WriteString(v[last:from])
		b.WriteString(with)
		last = to
	}
	if last == 0 {
		return v
	}
	b.WriteString(v[last:])
	return b.String()
}

// wordByte reports whether the byte belongs to a word.
func wordByte(v string, i int) bool {
	if i < 0 || i >= len(v) {
		return false
	}
	c := v[i]
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// copy copies what v holds to out, texts scrubbed. What has no text in it is shared:
// nobody changes a record.
func (s *scrubber) copy(out, v reflect.Value) {
	if !s.hasText(v.Type()) {
		out.Set(v)
		return
	}
	switch v.Kind() {
	case reflect.String:
		out.SetString(s.text(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			s.copy(out.Elem(), v.Elem())
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				s.copy(out.Index(i), v.Index(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			s.copy(out.Index(i), v.Index(i))
		}
	case reflect.Map:
		if !v.IsNil() {
			s.copyMap(out, v)
		}
	case reflect.Struct:
		out.Set(v) // also what is not exported
		for i := range v.NumField() {
			if t := v.Type().Field(i); t.IsExported() && s.hasText(t.Type) {
				s.copy(out.Field(i), v.Field(i))
			}
		}
	default:
		out.Set(v)
	}
}

func (s *scrubber) copyMap(out, v reflect.Value) {
	out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
	for it := v.MapRange(); it.Next(); {
		key, value := it.Key(), reflect.New(v.Type().Elem()).Elem()
		if key.Kind() == reflect.String {
			key = reflect.ValueOf(s.text(key.String())).Convert(key.Type())
		}
		s.copy(value, it.Value())
		out.SetMapIndex(key, value)
	}
}

// hasText reports whether a string can be in a value of the type.
func (s *scrubber) hasText(t reflect.Type) bool {
	if known, ok := s.holds[t]; ok {
		return known
	}
	s.holds[t] = true // of a type that holds itself, while it is looked at
	var has bool
	switch t.Kind() {
	case reflect.String:
		has = true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		has = s.hasText(t.Elem())
	case reflect.Map:
		has = s.hasText(t.Key()) || s.hasText(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && s.hasText(f.Type) {
				has = true
			}
		}
	}
	s.holds[t] = has
	return has
}
