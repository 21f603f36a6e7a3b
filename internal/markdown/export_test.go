package markdown

// ChunksOf is [Chunks] with custom sizes.
var ChunksOf = chunksOf
