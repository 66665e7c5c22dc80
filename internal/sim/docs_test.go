package sim

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files anew")

// The documentation of drive models is made of the comments in model.go, so that
// no field can be without a word.
func TestDocumentation(t *testing.T) {
	const path = "../../docs/drive-models.md"
	want := documentation(t)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not up to date: make update", path)
	}
}

const docHead = `# Drive models

A drive model is a JSON file that stands for a drive and the machine around it. ` + "`nativ bench --simulate FILE.json`" + ` (or the name of a model below, which are in the program) runs any preset on it: the same plan, waits, analysis and report as on a real machine, in virtual time, so that an hour takes a second. It needs no root, no disk and no container, and touches nothing.

**Nothing of a simulation was measured.** Every output of it says SIMULATED in its first line, its ID ends in ` + "`-simulated`" + `, and the record names the model and the hash of its file.

A model of the kind ` + "`calibrated`" + ` is fitted to published figures, which its sources name; one of the kind ` + "`archetype`" + ` is invented to show a kind of drive. What a model leaves out does not happen: without ` + "`slc`" + ` there is no cache that could fill up. A field that does not exist is an error. Temperatures are degrees Celsius, sizes bytes, everything else SI units that the names tell.

`

const docTail = `
## Where a simulation is not a drive

- A workload is bound by IOPS or by bytes a second, whichever is lower; whether offsets are random matters only to garbage collection.
- Heat is a network of two nodes. Real boards have more, and a case around them that warms up.
- Latencies are log-normal within a second, with a hundredth of them three times as slow. Their mean is what Little's law demands.
- Health logs are read for nothing: polling costs no I/O and warms no drive.
- Events do not happen while the test file is written for the first time.
`

func documentation(t *testing.T) []byte {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "model.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString("<!-- generated from internal/sim/model.go: make update -->\n\n" + docHead)
	out.WriteString("## Models here\n\n| file | kind | model |\n|:--|:--|:--|\n")
	for _, path := range modelFiles(t) {
		m, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "| [%s](../drives/%[1]s) | %s | %s |\n", filepath.Base(path), m.Kind, m.About)
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		spec := g.Specs[0].(*ast.TypeSpec)
		st, ok := spec.Type.(*ast.StructType)
		if !ok {
			continue
		}
		fmt.Fprintf(&out, "\n## %s\n\n%s\n\n| field | type | meaning |\n|:--|:--|:--|\n", spec.Name.Name, oneLine(g.Doc.Text()))
		fields := st.Fields.List
		for i := 0; i < len(fields); {
			// One comment may be about several fields, which it then names.
			n := i + 1
			for n < len(fields) && fields[n].Doc == nil {
				n++
			}
			if fields[i].Doc == nil {
				t.Errorf("%s.%s has no comment", spec.Name.Name, fields[i].Names[0])
				break
			}
			comment := replaceNames(st, oneLine(fields[i].Doc.Text()))
			var names, kinds []string
			for _, f := range fields[i:n] {
				name, kind := jsonName(f)
				if n > i+1 && !strings.Contains(comment, name) {
					t.Errorf("the comment of %s.%s does not name %s", spec.Name.Name, fields[i].Names[0], f.Names[0])
				}
				names = append(names, name)
				if !slices.Contains(kinds, kind) {
					kinds = append(kinds, kind)
				}
			}
			fmt.Fprintf(&out, "| %s | %s | %s |\n", strings.Join(names, ", "), strings.Join(kinds, "; "), comment)
			i = n
		}
	}
	out.WriteString(docTail)
	return out.Bytes()
}

// jsonName is the name of a field in a file, and its type in words.
func jsonName(f *ast.Field) (name, kind string) {
	tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
	name, rest, _ := strings.Cut(tag, ",")
	kind = typeName(f.Type)
	if rest == "omitempty" {
		kind += ", may be left out"
	}
	return "`" + name + "`", kind
}

// replaceNames turns the names of fields in a comment into those of the JSON.
func replaceNames(st *ast.StructType, comment string) string {
	for _, f := range st.Fields.List {
		name, _ := jsonName(f)
		for _, id := range f.Names {
			words := strings.Fields(comment)
			for i, w := range words {
				if strings.Trim(w, ".,;:()") == id.Name {
					words[i] = strings.Replace(w, id.Name, name, 1)
				}
			}
			comment = strings.Join(words, " ")
		}
	}
	return comment
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.ArrayType:
		return "list of " + typeName(e.Elt)
	case *ast.MapType:
		return typeName(e.Value) + " by name"
	case *ast.Ident:
		switch e.Name {
		case "float64":
			return "number"
		case "int", "int64":
			return "whole number"
		case "bool":
			return "true or false"
		case "string":
			return "text"
		}
		return fmt.Sprintf("[%s](#%s)", e.Name, strings.ToLower(e.Name))
	}
	return "?"
}
