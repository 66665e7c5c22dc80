package html

// texts are what the page says beside its document.
type texts struct {
	skip, contents, dark, light, copy, copied, note, back, footer, licence string

	// For charts. The script gets those below, too.
	data, units, reset, zoomIn, zoomOut, show, hint, keys, until string
}

var english = texts{
	skip: "Skip to the report", contents: "Contents", dark: "Dark", light: "Light", copy: "Copy", copied: "Copied",
	note: "Footnote %d", back: "Back to where footnote %d is referred to",
	footer:  "One file, without any outside request: it can be kept, sent and opened offline.",
	licence: "The charts are drawn by uPlot (MIT licence)",
	data:    "The data of this chart as a table", units: "Unit", reset: "Whole range", zoomIn: "Zoom in", zoomOut: "Zoom out", show: "Series",
	hint: "Drag to zoom, double-click for the whole range.",
	keys: "Arrow keys move the cursor, + and − zoom, 0 shows the whole range.", until: "to",
}

var german = texts{
	skip: "Zum Bericht springen", contents: "Inhalt", dark: "Dunkel", light: "Hell", copy: "Kopieren", copied: "Kopiert",
	note: "Fußnote %d", back: "Zurück zur Stelle, die auf Fußnote %d verweist",
	footer:  "Eine einzige Datei ohne jede Anfrage nach außen: Sie lässt sich aufbewahren, verschicken und offline öffnen.",
	licence: "Die Diagramme zeichnet uPlot (MIT-Lizenz)",
	data:    "Die Daten dieses Diagramms als Tabelle", units: "Einheit", reset: "Ganzer Bereich", zoomIn: "Vergrößern", zoomOut: "Verkleinern", show: "Reihen",
	hint: "Ziehen vergrößert, ein Doppelklick zeigt den ganzen Bereich.",
	keys: "Pfeiltasten bewegen den Zeiger, + und − ändern den Ausschnitt, 0 zeigt alles.", until: "bis",
}

func textsOf(lang string) *texts {
	if lang == "de" {
		return &german
	}
	return &english
}
