"""WebSub (W3C Recommendation, 2018): hubs push what is new, so that their feeds need few visits."""
