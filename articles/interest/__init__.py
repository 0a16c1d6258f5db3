"""What subscribers care for: learned from what they do, explained item by item."""
