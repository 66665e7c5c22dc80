package report

import (
	"fmt"

	"nativ/internal/record"
)

type simulationTexts struct {
	mark, title   string // in the first line of everything
	label, nobody string
}

var simulationEnglish = simulationTexts{
	mark: "SIMULATED", title: "SIMULATED: %s",
	label: "Simulated", nobody: "drive model %s (%s); nothing was measured",
}

var simulationGerman = simulationTexts{
	// Both, so that whoever looks for one word finds it in any language.
	mark: "SIMULIERT (SIMULATED)", title: "SIMULIERT (SIMULATED): %s",
	label: "Modell", nobody: "simuliertes Laufwerksmodell: %s (%s); nichts wurde gemessen",
}

// SimulatedMark is the word that begins every line of a run in which nothing is
// measured.
func SimulatedMark(lang string) string { return newSpeaker(lang, nil).simulation.mark }

// marked marks a title where nothing was measured.
func (s *speaker) marked(rec *record.Record, title string) string {
	if rec.Simulated == nil {
		return title
	}
	return fmt.Sprintf(s.simulation.title, title)
}

// simulated says what answered instead of a drive.
func (s *speaker) simulated(rec *record.Record) []Fact {
	m := rec.Simulated
	if m == nil {
		return nil
	}
	return []Fact{{s.simulation.label, fmt.Sprintf(s.simulation.nobody, s.data(m.Model), s.data(m.File))}}
}
