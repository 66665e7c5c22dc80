package job

import "strings"

// nearest returns the word that differs least from s, in the Levenshtein
// distance, the first of several, and false where none is near. A word that
// differs only in case or that s begins counts as near.
func nearest(s string, words []string) (string, bool) {
	if s == "" || len(s) > 40 {
		return "", false
	}
	low := strings.ToLower(s)
	best, at := "", 1+len(s)/3 // what a slip of the fingers may change
	if len(s) <= 3 {
		at = 2
	}
	for _, w := range words {
		if d := distance(low, w); d < at {
			best, at = w, d
		}
	}
	if best == "" && len(s) > 3 {
		for _, w := range words {
			if strings.HasPrefix(w, low) {
				return w, true
			}
		}
	}
	return best, best != ""
}

// distance counts the letters to insert, delete or replace to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for i := range row {
		row[i] = i
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for k := range len(b) {
			d := diagonal
			if a[i] != b[k] {
				d++
			}
			diagonal = row[k+1]
			row[k+1] = min(d, row[k]+1, row[k+1]+1)
		}
	}
	return row[len(b)]
}
