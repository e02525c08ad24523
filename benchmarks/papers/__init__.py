"""The papers' experiments, run by our code and printed beside what the papers print: one module per paper."""
