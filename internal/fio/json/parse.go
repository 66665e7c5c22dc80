package fiojson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxFile bounds what is read: json+ of a thousand jobs is a tenth of it.
const maxFile = 256 << 20

// maxRestarts bounds how often the search for JSON starts anew within text that
// was already read to its end.
const maxRestarts = 64

// Parse reads the output of fio in a format with JSON. Of a file that holds
// several runs it returns the last; see ParseAll.
func Parse(r io.Reader) (*Result, error) {
	all, err := ParseAll(r)
	if err != nil {
		return nil, err
	}
	last := all[len(all)-1]
	if n := len(all) - 1; n > 0 {
		last.note(DiagOtherRuns, "", fmt.Sprintf("%d earlier", n))
	}
	return last, nil
}

// ParseAll reads every run in the output of fio. Objects that are snapshots of
// one run (--status-interval) make one result. It fails where there is no JSON
// of fio's.
func ParseAll(r io.Reader) ([]*Result, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read fio JSON: %w", err)
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("read fio JSON: the file is larger than %d MiB", maxFile>>20)
	}
	objects, err := findObjects(b)
	if err != nil {
		return nil, fmt.Errorf("read fio JSON: %w", err)
	}
	var all []*Result
	for i, o := range objects {
		res := decodeRoot(&o.root)
		res.Text = o.text
		if n := len(all) - 1; n >= 0 && continues(all[n], res) {
			res.Snapshots += all[n].Snapshots
			res.Text = append(all[n].Text, res.Text...)
			all[n] = res
		} else {
			all = append(all, res)
		}
		if i == len(objects)-1 {
			res.Text = append(res.Text, o.after...)
		}
	}
	for _, res := range all {
		if res.Snapshots > 1 {
			res.note(DiagSnapshots, "", fmt.Sprintf("%d", res.Snapshots))
		}
		if len(res.Text) > 0 {
			first := message(res.Text)
			if first == "" {
				first = res.Text[0]
			}
			res.note(DiagText, "", first)
		}
	}
	return all, nil
}

// continues reports whether b is a later snapshot of the same run as a: the
// same jobs, and nothing that runs backwards.
func continues(a, b *Result) bool {
	if a.Version != b.Version || len(a.Jobs) > len(b.Jobs) || len(a.Jobs) == 0 {
		return false
	}
	if a.Reported != nil && b.Reported != nil && b.Reported.Before(*a.Reported) {
		return false
	}
	for i := range a.Jobs {
		x, y := &a.Jobs[i], &b.Jobs[i]
		if x.Name != y.Name || x.Group != y.Group || x.Host != y.Host ||
			x.ElapsedNS != nil && y.ElapsedNS != nil && *y.ElapsedNS < *x.ElapsedNS {
			return false
		}
		for _, d := range []func(*Job) *Flow{
			func(j *Job) *Flow { return j.Read }, func(j *Job) *Flow { return j.Write },
			func(j *Job) *Flow { return j.Trim }, func(j *Job) *Flow { return j.Mixed },
		} {
			if f, g := d(x), d(y); f != nil && (g == nil || g.RuntimeNS < f.RuntimeNS ||
				f.Bytes != nil && g.Bytes != nil && *g.Bytes < *f.Bytes) {
				return false
			}
		}
	}
	return true
}

// An object is one JSON object of fio's with the text before it, and, for the
// last one, after it.
type object struct {
	root        rawRoot
	text, after []string
}

// errNoFio is returned where nothing in a file is fio's.
var errNoFio = errors.New("there is no JSON of fio in it (no object with \"fio version\" and \"jobs\")")

// findObjects takes the JSON objects of fio out of the text around them: error
// messages come before and between them even with --output, and formats such
// as normal,json put a report in front.
func findObjects(b []byte) ([]object, error) {
	var found []object
	var broken error
	text, pos, restarts := 0, 0, 0
	for pos < len(b) {
		i := bytes.IndexByte(b[pos:], '{')
		if i < 0 {
			break
		}
		start := pos + i
		dec := json.NewDecoder(bytes.NewReader(b[start:]))
		var raw json.RawMessage
		err := dec.Decode(&raw)
		var syntax *json.SyntaxError
		switch {
		case err == nil:
			pos = start + int(dec.InputOffset())
			var root rawRoot
			if err := json.Unmarshal(raw, &root); err != nil {
				broken = fmt.Errorf("the object at byte %d: %w", start, err)
				continue
			}
			if root.Jobs == nil && root.Clients == nil {
				continue
			}
			found = append(found, object{root: root, text: lines(b[text:start])})
			text = pos
		case errors.As(err, &syntax):
			// Whatever stands before the error was no object; the offending
			// byte itself may start one.
			pos = max(start+1, start+int(syntax.Offset)-1)
		default:
			// The object does not end: fio was killed, or text has a brace of
			// its own. fio starts an object at the start of a line.
			broken = fmt.Errorf("the object at byte %d does not end: %w", start, err)
			next := bytes.Index(b[start:], []byte("\n{"))
			if restarts++; next < 0 || restarts > maxRestarts {
				pos = len(b)
			} else {
				pos = start + next + 1
			}
		}
	}
	if len(found) == 0 {
		if broken != nil {
			return nil, broken
		}
		return nil, errNoFio
	}
	found[len(found)-1].after = lines(b[text:])
	return found, nil
}

// lines are the lines of text that are not blank.
func lines(b []byte) []string {
	var out []string
	for l := range strings.Lines(string(b)) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, strings.ToValidUTF8(l, "\ufffd"))
		}
	}
	return out
}

func (r *Result) note(code, job, detail string) {
	d := Diagnostic{Code: code, Job: job, Detail: detail}
	for _, o := range r.Diagnostics {
		if o == d {
			return
		}
	}
	r.Diagnostics = append(r.Diagnostics, d)
}
