"""Facts about releases, and how they are shown: the domain computes, this package draws."""
