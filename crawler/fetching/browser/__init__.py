"""A headless browser for pages that scripts write, behind a proxy that guards every address it dials."""
