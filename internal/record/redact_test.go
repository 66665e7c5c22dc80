package record

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"
)

// canaries are identities, each in a form in which systems print it. The first two
// are known only because the record says elsewhere what they are.
var canaries = []string{
	"S6Z1NJ0W123456X", "mailserver7",
	"6e3cf0a2-91d4-4be1-8c57-0a1b2c3d4e5f", "eui.0025385b21404321", "nqn.2014-08.org.nvmexpress:uuid:canary", "0x5000c500a1b2c3d4",
	"52:54:00:ab:cd:ef", "192.168.178.31", "fe80::5054:ff:feab:cdef", "gretchen", "Samsung_SSD_canary", "CANARYLABEL",
}

const planted = `serial S6Z1NJ0W123456X of vm/mailserver7 at 192.168.178.31 fe80::5054:ff:feab:cdef 52:54:00:ab:cd:ef,
	/home/gretchen/x /media/gretchen/disk gretchen@box: /dev/disk/by-id/nvme-Samsung_SSD_canary /dev/disk/by-label/CANARYLABEL
	UUID=6e3cf0a2-91d4-4be1-8c57-0a1b2c3d4e5f nvme-eui.0025385b21404321 nqn.2014-08.org.nvmexpress:uuid:canary wwn-0x5000c500a1b2c3d4`

// plant puts the text into every string of a value, keys of maps included.
func plant(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(planted)
	case reflect.Pointer:
		if depth < 12 {
			v.Set(reflect.New(v.Type().Elem()))
			plant(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if depth < 12 && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			plant(v.Index(0), depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		plant(key, depth+1)
		plant(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type.String() != "time.Time" {
				plant(v.Field(i), depth+1)
			}
		}
	}
}

// count counts the strings of a value that have the text in them.
func count(v reflect.Value, text string) (n int) {
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(strings.ToLower(v.String()), strings.ToLower(text)) {
			return 1
		}
	case reflect.Pointer:
		if !v.IsNil() {
			n += count(v.Elem(), text)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			n += count(v.Index(i), text)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			n += count(it.Key(), text) + count(it.Value(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				n += count(v.Field(i), text)
			}
		}
	}
	return n
}

// Whatever field an identity gets into, it does not leave, and the record itself
// stays as it was.
func TestRedactEveryField(t *testing.T) {
	rec := new(Record)
	plant(reflect.ValueOf(rec).Elem(), 0)
	rec.Target.Drives[0].Serial = new("S6Z1NJ0W123456X")
	rec.Target.Neighbours[0].Name = "mailserver7"
	out := Redact(rec)
	for _, c := range canaries {
		before := count(reflect.ValueOf(rec), c)
		if before < 100 {
			t.Errorf("%q is in only %d strings: nothing was planted", c, before)
		}
		if n := count(reflect.ValueOf(out), c); n > 0 {
			t.Errorf("%q is left in %d of %d strings", c, n, before)
		}
	}
	if *rec.Target.Drives[0].Serial != "S6Z1NJ0W123456X" {
		t.Error("the record itself was changed")
	}
	if got := *out.Target.Drives[0].Serial; got != "serial-1" {
		t.Errorf("the serial number became %q", got)
	}
	if !strings.Contains(out.Target.Dir, "serial-1") || !strings.Contains(out.Target.Dir, "guest-1") {
		t.Errorf("one value has several stand-ins: %s", out.Target.Dir)
	}
}

// Numbers and nativ's own words stay: of the example only the serial number goes.
func TestRedactKeepsTheRest(t *testing.T) {
	f, err := os.Open("../../docs/example/quick.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec, err := Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	var before, after bytes.Buffer
	if err := Encode(&before, rec); err != nil {
		t.Fatal(err)
	}
	serial := *rec.Target.Drives[0].Serial
	if err := Encode(&after, Redact(rec)); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(before.String(), `"`+serial+`"`, `"serial-1"`)
	if want == before.String() {
		t.Fatal("the example has no serial number")
	}
	if got := after.String(); got != want {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Errorf("more was changed: %.80q became %.80q", want[max(i-20, 0):], got[max(i-20, 0):])
	}
}

func TestRedactTexts(t *testing.T) {
	rec := &Record{Target: Target{Drives: []Drive{{Serial: new("AB1234")}}, Neighbours: []Neighbour{{Name: "web"}, {Name: "root"}}}}
	s := newScrubber(rec)
	for in, want := range map[string]string{
		"vm/web and website":                "vm/guest-1 and website",
		"nvme-Samsung_AB1234-part1":         "nvme-Samsung_serial-1-part1",
		"/home/anna/bench, /home/anna":      "/home/user-1/bench, /home/user-1",
		"/root/bench":                       "/root/bench",
		"2026-12-01 10:21:33":               "2026-12-01 10:21:33",
		"fio 3.33, Linux 6.14.11-2-pve":     "fio 3.33, Linux 6.14.11-2-pve",
		"PCI 0000:03:00.0":                  "PCI 0000:03:00.0",
		"10.0.0.1 is 10.0.0.1":              "ip-1 is ip-1",
		"/dev/mapper/pve-data":              "/dev/mapper/pve-data",
		"/dev/disk/by-uuid/12AB-34CD at 1":  "/dev/disk/by-uuid/id-1 at 1",
		"Linux version 6.1 (buildd@x) 2024": "Linux version 6.1 (buildd@x) 2024",
	} {
		if got := s.text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// Scrubbing ends, and no text around it saves a value that is known.
func FuzzRedactText(f *testing.F) {
	f.Add(planted)
	f.Add("a@b:c /home/ /home// 1.2.3.4.5 ::1 0x")
	f.Fuzz(func(t *testing.T, text string) {
		s := newScrubber(&Record{Target: Target{Drives: []Drive{{Serial: new("S6Z1NJ0W123456X")}}}})
		if got := s.text(text + " S6Z1NJ0W123456X " + text); strings.Contains(got, "S6Z1NJ0W123456X") {
			t.Errorf("%q became %q", text, got)
		}
	})
}
