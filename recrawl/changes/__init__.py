"""Changes of watched pages: their feeds, their versions, and who has seen them."""
