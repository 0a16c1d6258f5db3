"""WebSub (W3C Recommendation, 2018): hubs push new entries, so that their feeds need few visits."""
