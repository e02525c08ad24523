"""The studio: a local web page over the same verbs as the command line. Everything done in it is a plan file."""
