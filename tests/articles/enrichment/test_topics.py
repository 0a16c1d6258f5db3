"""Topics by the tags of articles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.enrichment.topics import BY_NAME, TOPICS, topic_of
from articles.templatetags.reader import TOPIC_NAMES


@pytest.mark.parametrize(
    ("tags", "topic", "reason"),
    [
        (["Politics"], "Politics", "Politics"),
        (["Politik", "Berlin"], "Politics", "Politik"),
        (["POLÍTICA"], "Politics", "POLÍTICA"),
        (["Économie"], "Economy and business", "Économie"),
        (["#football"], "Sport", "#football"),
        (["Premier League"], "Sport", "Premier League"),
        (["Climate change news"], "Environment", "Climate change news"),
        (["machine-learning"], "Science and technology", "machine-learning"),
        (["deep learning concepts"], "Science and technology", "deep learning concepts"),
        (["Science/Tech", "Films"], "Science and technology", "Science/Tech"),
        (["Films", "Sport", "Tennis"], "Sport", "Sport"),
        (["金融・経済"], "Economy and business", "金融・経済"),
        (["技術"], "Science and technology", "技術"),
        (["Здоровье"], "Health", "Здоровье"),
        (["Uncategorized", "Blog", "2024"], "", ""),
        (["go", "rust"], "Science and technology", "go"),
        (["Let it go on"], "", ""),
        ([""], "", ""),
        ([], "", ""),
    ],
)
def test_tags_mean_topics(tags, topic, reason):
    assert topic_of(tags) == (topic, reason)


@given(st.lists(st.text(max_size=300), max_size=50))
def test_any_tags_are_read(tags):
    topic, reason = topic_of(tags)
    assert topic in {"", *BY_NAME}
    assert reason in {"", *tags}


def test_every_topic_has_a_name_for_readers():
    assert list(TOPIC_NAMES) == [topic.name for topic in TOPICS]
    assert len({topic.code for topic in TOPICS}) == len(TOPICS) == 17
