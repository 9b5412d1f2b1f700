"""The four parts a decoder block is made of. They know shapes and arithmetic, no checkpoint and no family."""
