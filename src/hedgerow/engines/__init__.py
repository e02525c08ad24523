"""Where data is read, recodings are applied and releases are written."""
