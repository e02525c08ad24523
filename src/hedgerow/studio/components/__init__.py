"""Parts of screens that the toolkit does not have."""
