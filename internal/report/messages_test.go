package report

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nativ/internal/record"
)

var verb = regexp.MustCompile(`%(\[(\d)\])?(.)`)

// verbs returns the arguments that a text takes, in the order of their numbers.
func verbs(t *testing.T, path, text string) []string {
	t.Helper()
	var args []string
	next := 1
	for _, m := range verb.FindAllStringSubmatch(text, -1) {
		if m[3] == "%" {
			continue
		}
		if m[3] != "s" {
			// A percent sign of a text that is no format, such as "5 %".
			return nil
		}
		n := fmt.Sprint(next)
		if m[2] != "" {
			n = m[2]
		} else {
			next++
		}
		if !slices.Contains(args, n) {
			args = append(args, n)
		}
	}
	slices.Sort(args)
	return args
}

// texts calls f with every text of a catalogue and its path.
func texts(v reflect.Value, path string, f func(path, text string)) {
	switch v.Kind() {
	case reflect.String:
		f(path, v.String())
	case reflect.Map:
		for _, k := range v.MapKeys() {
			texts(v.MapIndex(k), path+"["+k.String()+"]", f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "tag" {
				texts(v.Field(i), path+"."+name, f)
			}
		}
	}
}

func TestLanguagesSayTheSame(t *testing.T) {
	all := map[string]map[string]string{}
	for _, lang := range Langs() {
		all[lang] = map[string]string{}
		texts(reflect.ValueOf(catalogue(lang)).Elem(), "", func(path, text string) {
			all[lang][path] = text
			if text == "" {
				t.Errorf("%s%s is empty", lang, path)
			}
		})
	}
	if len(all["de"]) < 200 {
		t.Fatalf("found only %d texts; does the walk still see all?", len(all["de"]))
	}
	for path, de := range all["de"] {
		en, ok := all["en"][path]
		if !ok {
			t.Errorf("%s is missing in English", path)
			continue
		}
		if a, b := verbs(t, path, de), verbs(t, path, en); !slices.Equal(a, b) {
			t.Errorf("%s takes %v in German and %v in English", path, a, b)
		}
	}
	for path := range all["en"] {
		if _, ok := all["de"][path]; !ok {
			t.Errorf("%s is missing in German", path)
		}
	}
}

// TestEveryWarningHasAText renders each code alone, as a record of any age may
// hold it: without values and words.
func TestEveryWarningHasAText(t *testing.T) {
	for _, lang := range Langs() {
		for _, code := range record.WarningCodes() {
			rec := healthy()
			n := newNotes(newSpeaker(lang, rec), rec, []record.Warning{{Code: code}})
			if code == record.WarnNeighbours {
				rec.Target.Neighbours = nil
				n = newNotes(newSpeaker(lang, rec), rec, []record.Warning{{Code: code}})
			}
			items := n.block().Items
			if len(items) != 1 || items[0] == "" || strings.Contains(items[0], code) || strings.Contains(items[0], "%!") {
				t.Errorf("%s: %s reads %q", lang, code, items)
			}
		}
	}
}

func TestUnknownWarningShowsItsCode(t *testing.T) {
	rec := healthy()
	n := newNotes(newSpeaker("en", rec), rec, []record.Warning{{Code: "of-a-later-version", Phase: "p"}})
	if got := n.block().Items[0]; got != "of-a-later-version p" {
		t.Errorf("got %q", got)
	}
}

func TestLangFromEnv(t *testing.T) {
	for _, c := range []struct {
		all, messages, lang, want string
	}{
		{"", "", "", "en"},
		{"", "", "de_DE.UTF-8", "de"},
		{"", "", "de", "de"},
		{"", "", "de_AT@euro", "de"},
		{"", "", "den_CA.UTF-8", "en"},
		{"C", "", "de_DE.UTF-8", "en"},
		{"", "en_US.UTF-8", "de_DE.UTF-8", "en"},
		{"", "de_CH.UTF-8", "en_US.UTF-8", "de"},
		{"de_DE", "en_US", "en_US", "de"},
		{"C.UTF-8", "", "", "en"},
	} {
		env := map[string]string{"LC_ALL": c.all, "LC_MESSAGES": c.messages, "LANG": c.lang}
		if got := LangFromEnv(func(k string) string { return env[k] }); got != c.want {
			t.Errorf("%v: got %s, want %s", c, got, c.want)
		}
	}
}

func TestQuestion(t *testing.T) {
	for _, a := range []string{"j", "J\n", " ja ", "y", "Yes\r\n"} {
		if !Yes(a) {
			t.Errorf("%q is no yes", a)
		}
	}
	for _, a := range []string{"", "\n", "n", "nein", "no", "jein", "yy"} {
		if Yes(a) {
			t.Errorf("%q is a yes", a)
		}
	}
	if Question("de") != "Starten? [j/N] " || Question("en") != "Start? [y/N] " {
		t.Errorf("%q %q", Question("de"), Question("en"))
	}
}
