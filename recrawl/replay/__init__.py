"""Methods of recrawling on recorded histories of sites. Pure but for reading files."""
