"""Packaging: units, compose files, the container's steps, alerts, links of the documentation."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
CONTRIB = ROOT / "contrib"
UNITS = sorted(path.name for path in (CONTRIB / "systemd").iterdir())
MAX_EXPOSURE = 3.0
ANALYZE = shutil.which("systemd-analyze")


@pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", [name for name in UNITS if name.endswith(".service")])
def test_services_are_closed(unit: str) -> None:
    path = CONTRIB / "systemd" / unit
    ended = subprocess.run(
        [str(ANALYZE), "security", "--offline=yes", path], capture_output=True, text=True, check=False
    )
    exposure = re.search(rf"exposure level for {re.escape(unit)}: ([\d.]+)", ended.stdout)
    assert exposure is not None, ended.stdout + ended.stderr
    assert float(exposure[1]) <= MAX_EXPOSURE


@pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")
def test_units_are_understood(tmp_path: Path) -> None:
    for name in UNITS:
        text = (CONTRIB / "systemd" / name).read_text()
        (tmp_path / name).write_text(text.replace("/opt/freshet/bin/freshet", "/bin/true"))
    ended = subprocess.run(
        [str(ANALYZE), "verify", *sorted(tmp_path.iterdir())], capture_output=True, text=True, check=False
    )
    complaints = [line for line in ended.stderr.splitlines() if str(tmp_path) in line or "freshet" in line]
    assert complaints == []


@pytest.mark.parametrize("name", ["one", "services", "terminal"])
def test_compose_files_start_commands_that_exist(name: str) -> None:
    content = yaml.safe_load((CONTRIB / "compose" / f"{name}.yaml").read_text())
    for service in content["services"].values():
        if not str(service["image"]).startswith("freshet"):
            continue
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        if service.get("entrypoint", [""])[0] == "celery" or "command" not in service:
            continue
        command = service["command"]
        if command and command[0] not in {"run"}:
            ended = subprocess.run(
                [sys.executable, "manage.py", command[0], "--help"],
                cwd=ROOT,
                capture_output=True,
                check=False,
            )
            assert ended.returncode == 0, command


def test_every_queue_has_a_worker_in_the_compose_file() -> None:
    from django.conf import settings  # noqa: PLC0415

    content = yaml.safe_load((CONTRIB / "compose" / "services.yaml").read_text())
    commands = [service.get("command", []) for service in content["services"].values()]
    queues = [words[words.index("-Q") + 1] for words in commands if "-Q" in words]
    served = {queue for names in queues for queue in names.split(",")}
    assert served == {route["queue"] for route in settings.CELERY_TASK_ROUTES.values()} | {"later"}


def test_the_container_copies_what_its_steps_need() -> None:
    text = (ROOT / "Containerfile").read_text()
    assert "install.sh /source /opt/freshet" in text
    script = CONTRIB / "container" / "install.sh"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["sh", "-n", script], check=False).returncode == 0
    user, probe = re.search(r"USER (\d+)", text), re.search(r'"-m", "([\w.]+)"', text)
    assert user is not None
    assert int(user[1]) > 0
    assert probe is not None
    ended = subprocess.run([sys.executable, "-m", probe[1]], cwd=ROOT, env={"PORT": "1"}, check=False)
    assert ended.returncode == 1


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_alerts_are_understood() -> None:
    rules = CONTRIB / "prometheus" / "freshet.rules.yaml"
    ended = subprocess.run(["promtool", "check", "rules", rules], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_alerts_and_dashboard_name_figures_that_exist() -> None:
    source = (ROOT / "crawler" / "operation" / "site" / "health.py").read_text()
    known = {f"freshet_{name}" for name in re.findall(r'_gauge\(\s*"(\w+)"', source)}
    rules = yaml.safe_load((CONTRIB / "prometheus" / "freshet.rules.yaml").read_text())
    dashboard = json.loads((CONTRIB / "grafana" / "freshet.json").read_text())
    expressions = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    expressions += [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    named = {name for expression in expressions for name in re.findall(r"freshet_\w+", expression)}
    assert len(known) > 10
    assert named <= known


def test_a_web_server_takes_the_socket_that_systemd_opened(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        program = (
            "import os, sys\n"
            "os.environ['LISTEN_PID'] = str(os.getpid())\n"
            "os.dup2(int(sys.argv[1]), 3)\n"
            "os.execv(sys.executable, [sys.executable, 'manage.py', 'web', '--bind', '127.0.0.1:1'])\n"
        )
        closed = "postgresql://nobody:nothing@127.0.0.1:1/nowhere"
        environment = {**os.environ, "LISTEN_FDS": "1", "DATA_DIR": str(tmp_path), "DATABASE_URL": closed}
        with subprocess.Popen(
            [sys.executable, "-c", program, str(listener.fileno())], cwd=ROOT, env=environment,
            pass_fds=[listener.fileno()],
        ) as web:  # fmt: skip
            try:
                # The request waits in the socket until the server has started. There is no database.
                with pytest.raises(urllib.error.HTTPError, match="503"):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=30)
            finally:
                web.terminate()
                time.sleep(0.1)


PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "notes").glob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_the_documentation_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", re.sub(r"(?m)^    .*$", "", page.read_text()))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name}: {target}"
        if anchor and file.suffix == ".md":
            assert anchor in _anchors(file), f"{page.name}: {target}"


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text())
    plain = [re.sub(r"[`*\[\]]|\([^)]*\)", "", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}
