package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Encode writes r as one line of JSON and a newline. The form is stable: fields
// in the order of the types, map keys sorted. Compact, because most of a record
// are histogram buckets, which one number a line would make ten times as long;
// jq and nativ report show it readably.
func Encode(w io.Writer, r *Record) error {
	enc := json.NewEncoder(w)
	// Command lines and notes keep their <, > and &: nobody embeds this in HTML
	// unescaped, and people read it.
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// Decode reads what Encode wrote, by this or an earlier version. It refuses a
// record of a later schema, what is no record at all or only a part of one, and
// negative counts. Fields that it does
// not know are skipped: within one schema version fields are only ever added.
func Decode(r io.Reader) (*Record, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	// The version first and alone: a later schema may have other types in the
	// same fields, and "update nativ" helps more than a type error.
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return nil, fmt.Errorf("read record: %w", explain(b, err))
	}
	var version *int
	if v, ok := parts["schema_version"]; ok {
		if err := json.Unmarshal(v, &version); err != nil {
			return nil, fmt.Errorf("read record: schema_version: %w", explain(v, err))
		}
	}
	switch {
	case version == nil:
		return nil, errors.New("read record: this JSON is no nativ record, it has no schema_version")
	case *version > SchemaVersion:
		return nil, fmt.Errorf("read record: it has schema version %d and this nativ reads up to %d; update nativ", *version, SchemaVersion)
	case *version < 1:
		return nil, fmt.Errorf("read record: there is no schema version %d", *version)
	}
	rec := new(Record)
	if err := json.Unmarshal(b, rec); err != nil {
		return nil, fmt.Errorf("read record: %w", explain(b, err))
	}
	if missing := missingParts(parts); len(missing) > 0 {
		return nil, fmt.Errorf("read record: it is not whole, without %s; give the record.json that nativ bench wrote", strings.Join(missing, ", "))
	}
	if err := rec.check(); err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	return rec, nil
}

// explain turns the JSON errors that people meet into what happened to them.
func explain(b []byte, err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case len(bytes.TrimSpace(b)) == 0:
		return errors.New("it is empty")
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(b)):
		return fmt.Errorf("it ends in the middle, after %d bytes: %w", len(b), err)
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not JSON at byte %d: %w", syntax.Offset, err)
	case errors.As(err, &typ) && typ.Field == "":
		return fmt.Errorf("it is no nativ record but a JSON %s", typ.Value)
	}
	return err
}
