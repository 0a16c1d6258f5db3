"""The taxonomy: every failure has a name that finds its way back and a sentence for people."""

import pytest

from crawler.failures import Failure, FetchError, of_response


@pytest.mark.parametrize("kind", list(Failure))
def test_every_failure_explains_itself_in_one_sentence(kind: Failure) -> None:
    assert kind.explanation.endswith(".") and len(kind.explanation) > 20
    assert Failure.of(kind.value) is kind


@pytest.mark.parametrize(
    ("status", "label", "kind"),
    [
        (404, "http-404", Failure.HTTP_4XX),
        (500, "http-500", Failure.HTTP_5XX),
        (503, "http-503", Failure.HTTP_5XX),
        (403, "http-403", Failure.HTTP_4XX),
        (204, "http-204", Failure.HTTP_OTHER),
        (410, "gone", Failure.GONE),
        (429, "throttled", Failure.THROTTLED),
    ],
)
def test_the_label_keeps_the_code_and_names_its_kind(status: int, label: str, kind: Failure) -> None:
    error = FetchError(of_response(status, retry_after=False, challenged=False), status=status)
    assert (error.label, error.kind, error.status) == (label, kind, status)
    assert Failure.of(error.label) is kind


def test_a_503_with_retry_after_and_a_challenged_403_are_throttling() -> None:
    assert of_response(503, retry_after=True, challenged=False) is Failure.THROTTLED
    assert of_response(403, retry_after=False, challenged=True) is Failure.THROTTLED


def test_an_unknown_label_is_an_error() -> None:
    with pytest.raises(ValueError, match="nonsense"):
        Failure.of("nonsense")


def test_our_own_troubles_are_told_from_theirs() -> None:
    assert Failure.DNS.ours and Failure.UNREACHABLE.ours and Failure.REFUSED.ours
    assert not Failure.HTTP_4XX.ours and not Failure.MALFORMED.ours
