package plot

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"html"
	"regexp"
	"strconv"
	"strings"

	"nativ/internal/report"
)

// fields are what a picture says of itself, by the keywords that PNG registers (PNG
// Specification, 11.3.3.2).
func fields(c *report.Chart) [][2]string {
	all := [][2]string{{"Title", c.Title}, {"Description", strings.TrimSpace(c.Subtitle + "\n" + c.Alt)}, {"Software", "nativ"}, {"Source", c.Citation}}
	if c.Simulated != "" {
		all = append(all, [2]string{"Disclaimer", c.Simulated})
	}
	for i := range all {
		all[i][1] = plain(all[i][1])
	}
	return all
}

// describePNG adds texts after the first chunk, the header. Those beyond Latin-1,
// which tEXt is in, become iTXt.
func describePNG(png []byte, c *report.Chart) ([]byte, error) {
	const signature, header = 8, 12 + 13
	if len(png) < signature+header {
		return nil, wrapped(c, errors.New("the PNG has no header"))
	}
	out := bytes.NewBuffer(bytes.Clone(png[:signature+header]))
	for _, f := range fields(c) {
		if latin, ok := latin1(f[1]); ok {
			chunk(out, "tEXt", append([]byte(f[0]+"\x00"), latin...))
			continue
		}
		chunk(out, "iTXt", []byte(f[0]+"\x00\x00\x00"+c.Lang+"\x00\x00"+f[1]))
	}
	out.Write(png[signature+header:])
	return out.Bytes(), nil
}

func latin1(s string) ([]byte, bool) {
	var b []byte
	for _, r := range s {
		if r > 0xff || r < ' ' && r != '\n' {
			return nil, false
		}
		b = append(b, byte(r))
	}
	return b, true
}

func chunk(out *bytes.Buffer, kind string, data []byte) {
	body := append([]byte(kind), data...)
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data))))
	out.Write(body)
	out.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
}

// describeSVG adds title, description and metadata, names the language and the role,
// and says which other fonts will do: one that is not there would be one with serifs.
func describeSVG(svg []byte, c *report.Chart) ([]byte, error) {
	start := bytes.Index(svg, []byte("<svg"))
	end := bytes.Index(svg, []byte("<g "))
	if start < 0 || end < start {
		return nil, wrapped(c, errors.New("the SVG has no beginning"))
	}
	root := strings.TrimSpace(string(svg[start:end]))
	root = strings.TrimSuffix(root, ">")
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	id := "chart-" + c.ID
	fmt.Fprintf(&b, "%s\n\txml:lang=%q role=\"img\" aria-labelledby=\"%s-title %s-desc\">\n", root, c.Lang, id, id)
	fmt.Fprintf(&b, "<title id=\"%s-title\">%s</title>\n<desc id=\"%s-desc\">%s</desc>\n<metadata>\n", id, escape(c.Title), id, escape(c.Alt))
	b.WriteString("<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><rdf:Description>\n")
	for _, f := range fields(c) {
		name := map[string]string{"Title": "title", "Description": "description", "Software": "creator", "Source": "source", "Disclaimer": "type"}[f[0]]
		fmt.Fprintf(&b, "<dc:%s>%s</dc:%s>\n", name, escape(f[1]), name)
	}
	b.WriteString("</rdf:Description></rdf:RDF>\n</metadata>\n")
	b.Write(fit(svg[end:]))
	return b.Bytes(), nil
}

// texts are the elements that vgsvg writes for text.
var texts = regexp.MustCompile(`(<text [^>]*?)\n\tstyle="font-family:Liberation Sans;font-variant:normal;font-weight:(\w+);font-style:normal;font-size:([\d.]+)px([^"]*)">([^<]*)</text>`)

// fit gives every text the width that it was laid out with: where the viewer has
// neither the font nor one of the same metrics, it would else be wider and run into
// its neighbour. And it makes the mark across data one to see through, which vgsvg
// does with shapes only.
func fit(svg []byte) []byte {
	return texts.ReplaceAllFunc(svg, func(m []byte) []byte {
		g := texts.FindSubmatch(m)
		size, err := strconv.ParseFloat(string(g[3]), 64)
		if err != nil {
			return m
		}
		text := html.UnescapeString(string(g[5]))
		width := write(size, string(g[2]) == "bold", nil).width(text)
		more := ""
		if text == across {
			more = ` fill-opacity="0.11"`
		}
		weight := ""
		if string(g[2]) == "bold" {
			weight = "font-weight:bold;"
		}
		return fmt.Appendf(nil, `%s textLength="%.1f" lengthAdjust="spacingAndGlyphs"%s style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;%sfont-size:%spx%s">%s</text>`,
			g[1], float64(width), more, weight, g[3], g[4], g[5])
	})
}

func escape(s string) string {
	var b bytes.Buffer
	// Never fails: a Buffer takes everything.
	_ = xml.EscapeText(&b, []byte(plain(s)))
	return b.String()
}
