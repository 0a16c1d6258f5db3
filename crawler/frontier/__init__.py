"""Priority-queue crawl of the open web (papers/001, Baker and Akcayol 2017)."""
