module notesd/vectors/bert/kernel/asm

go 1.26.0
