"""Steps on a page as people write them, one to a line: `click #accept`, `type #q = boats`, `wait 2`. Pure."""

from __future__ import annotations

from typing import Any

from crawler.fetching.browser.steps import Step, checked_steps


def steps_of_lines(lines: list[str]) -> list[dict[str, Any]]:
    """Return the steps that the lines describe. Raises ValueError with a sentence."""
    steps = [_step(line) for line in lines]
    checked_steps(steps)
    return steps


def lines_of_steps(steps: list[dict[str, Any]]) -> list[str]:
    """Return the lines for stored steps."""
    return [_line(step) for step in checked_steps(steps)]


def _step(line: str) -> dict[str, Any]:
    word, _, argument = line.strip().partition(" ")
    argument = argument.strip()
    if word == "click":
        return {"do": "click", "at": argument}
    if word == "type":
        # Between blanks, because a selector may hold an equals sign: input[name=q].
        at, _, text = f" {argument}".partition(" = ")
        return {"do": "type", "at": at.strip(), "text": text}
    if word == "wait" and argument.startswith("for "):
        return {"do": "wait-for", "at": argument.removeprefix("for ").strip()}
    if word == "wait":
        # checked_steps has the sentence for what is no number.
        try:
            return {"do": "wait", "seconds": float(argument)}
        except ValueError:
            return {"do": "wait", "seconds": argument}
    return {"do": word} | ({"at": argument} if argument else {})


def _line(step: Step) -> str:
    if step.do == "type":
        return f"type {step.at} = {step.text}"
    if step.do == "wait":
        return f"wait {step.seconds:g}"
    if step.do == "wait-for":
        return f"wait for {step.at}"
    return f"{step.do} {step.at}".strip()
