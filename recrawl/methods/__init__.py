"""The methods of recrawling, one file for each kind. Pure."""
