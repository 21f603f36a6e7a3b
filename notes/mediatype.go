package notes

import (
	"net/http"
	"path"
	"strings"
)

// mediaTypes maps file name extensions to media types, for the files found in vaults.
// The system's own table differs between machines, and many have none.
var mediaTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".avif": "image/avif", ".bmp": "image/bmp", ".svg": "image/svg+xml", ".ico": "image/vnd.microsoft.icon",
	".tif": "image/tiff", ".tiff": "image/tiff", ".heic": "image/heic", ".heif": "image/heif",
	".mp3": "audio/mpeg", ".m4a": "audio/mp4", ".wav": "audio/wav", ".ogg": "audio/ogg", ".oga": "audio/ogg",
	".opus": "audio/ogg", ".flac": "audio/flac", ".aac": "audio/aac", ".3gp": "audio/3gpp",
	".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".ogv": "video/ogg", ".mov": "video/quicktime", ".mkv": "video/matroska",
	".pdf": "application/pdf", ".epub": "application/epub+zip", ".zip": "application/zip", ".gz": "application/gzip",
	".json": "application/json", ".canvas": "application/json", ".xml": "application/xml", ".toml": "application/toml",
	".yaml": "application/yaml", ".yml": "application/yaml", ".rtf": "application/rtf",
	".txt": "text/plain", ".log": "text/plain", ".csv": "text/csv", ".tsv": "text/tab-separated-values",
	".html": "text/html", ".htm": "text/html", ".css": "text/css", ".js": "text/javascript", ".ics": "text/calendar",
	".bib": "text/x-bibtex", ".tex": "text/x-tex", ".org": "text/org", ".rst": "text/x-rst", ".base": "application/yaml",
	".doc": "application/msword", ".xls": "application/vnd.ms-excel", ".ppt": "application/vnd.ms-powerpoint",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".odt":  "application/vnd.oasis.opendocument.text", ".ods": "application/vnd.oasis.opendocument.spreadsheet",
	".odp": "application/vnd.oasis.opendocument.presentation",
}

// MediaType returns the media type of a file, by its extension, else by its first
// bytes; "application/octet-stream" if neither is known.
func MediaType(name string, data []byte) string {
	if t, ok := mediaTypes[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	if len(data) == 0 {
		return "application/octet-stream"
	}
	t, _, _ := strings.Cut(http.DetectContentType(data), ";")
	return t
}
