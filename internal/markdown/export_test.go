package markdown

// ChunksOf is [Chunks] with other sizes.
var ChunksOf = chunksOf
