package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"nativ/internal/record"
)

// A Saying is something that a command says beside its report.
type Saying int

// The sayings, each with its arguments.
const (
	SayLeftovers  Saying = iota // number of runs
	SayAskClean                 // a question
	SayCleanHint                //
	SayAskDir                   // a question; number of candidates
	SayPlaces                   //
	SaySetUp                    // place
	SaySetUpAgain               // place
	SayPrefilled                // size, speed
	SayCleaning                 //
	SayFailed                   // why
	SayDryRun                   //
	SayStandsFor                // a path that does not exist, the name of the file in its place
)

var sayings = map[string][]string{
	"en": {
		SayLeftovers:  "Earlier runs that were killed left things behind (%d):",
		SayAskClean:   "Remove exactly what their journals list? [y/N] ",
		SayCleanHint:  "Remove them with: nativ clean",
		SayAskDir:     "Where to measure? [number up to %d, or an absolute path] ",
		SayPlaces:     "Places worth measuring:",
		SaySetUp:      "Setting up: %s",
		SaySetUpAgain: "Setting up again, it was lost: %s",
		SayPrefilled:  "Test file written: %s at %s",
		SayCleaning:   "Cleaning up",
		SayFailed:     "failed: %s",
		SayDryRun:     "Dry run: nothing was touched.",
		SayStandsFor:  "%s does not exist: %s beside it stands for it and is removed afterwards",
	},
	"de": {
		SayLeftovers:  "Frühere, abgebrochene Läufe haben etwas zurückgelassen (%d):",
		SayAskClean:   "Genau das entfernen, was ihre Journale nennen? [j/N] ",
		SayCleanHint:  "Entfernen mit: nativ clean",
		SayAskDir:     "Wo messen? [Nummer bis %d oder ein absoluter Pfad] ",
		SayPlaces:     "Orte, an denen sich das Messen lohnt:",
		SaySetUp:      "Wird vorbereitet: %s",
		SaySetUpAgain: "War verloren, wird neu vorbereitet: %s",
		SayPrefilled:  "Testdatei geschrieben: %s mit %s",
		SayCleaning:   "Räume auf",
		SayFailed:     "fehlgeschlagen: %s",
		SayDryRun:     "Probelauf: Nichts wurde angefasst.",
		SayStandsFor:  "%s gibt es nicht: %s daneben steht dafür und wird danach entfernt",
	},
}

// Say words a saying in a language.
func Say(lang string, what Saying, args ...any) string {
	list, ok := sayings[lang]
	if !ok {
		list = sayings["en"]
	}
	return fmt.Sprintf(list[what], args...)
}

// No reports whether an answer to Question is a no; an empty one is.
func No(answer string) bool {
	return slices.Contains([]string{"", "n", "nein", "no"}, strings.ToLower(strings.TrimSpace(answer)))
}

// PlaceName names a place of the run in a language, for example "LXC, 4 CPUs".
func PlaceName(rec *record.Record, place, lang string) string {
	return newSpeaker(lang, rec).placeName(rec, place)
}

// PrefillDone says how fast the test file was written.
func PrefillDone(bytes, ns int64, lang string) string {
	s := newSpeaker(lang, nil)
	speed := "?"
	if ns > 0 {
		speed = unit(s.short(float64(bytes)/float64(ns)*1e3), "MB/s")
	}
	return plain(Say(lang, SayPrefilled, s.bytes(bytes), speed))
}

// FailureText says why a pass failed.
func FailureText(f *record.Failure, lang string) string {
	return Say(lang, SayFailed, newSpeaker(lang, nil).failure(f.Code, f.Detail))
}

// Candidates lists places worth measuring, numbered from 1.
func Candidates(w io.Writer, list []*record.Target, lang string) error {
	if _, err := fmt.Fprintln(w, Say(lang, SayPlaces)); err != nil {
		return err
	}
	for i, t := range list {
		rec := &record.Record{Target: *t}
		n := newNotes(newSpeaker(lang, rec), rec, nil)
		if _, err := fmt.Fprintf(w, "%3d  %s\n     %s\n", i+1, plain(n.dirLine()), plain(n.driveLine(nil))); err != nil {
			return err
		}
	}
	return nil
}

// plain turns no-break spaces into spaces.
func plain(s string) string { return strings.ReplaceAll(s, glue, " ") }
