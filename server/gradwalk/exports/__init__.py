"""A trace turned into a file. Pure: a document goes in, bytes come out."""
