"""The screens of the studio, one module each."""
