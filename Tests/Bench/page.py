"""The newest figures in their page, between two marks."""

import datetime
import os
import platform
import re
import subprocess

BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
CURVES = {
    "performance-owners.svg": "Time of a request by owners",
    "performance-start.svg": "Start by owners",
    "performance-rate.svg": "Secrets opened by clients",
    "performance-clients.svg": "Time of a request by clients",
}


def write(rows, path, figure, load):
    """Puts the rows, and the curves beside the page, in the place of earlier ones."""
    lines = [BEGIN, "", f"{circumstances(load)}", ""]
    lines += ["| | Unit | Coffer | Compared | with | Ratio | Target | |",
              "| --- | --- | ---: | ---: | --- | ---: | --- | --- |"]
    for row in rows:
        met = {True: "met", False: "**missed**", None: ""}[row["met"]]
        cells = (
            row["name"], row["unit"], figure(row["coffer"]), figure(row["reference"]),
            row["referenceName"] or "", figure(row["ratio"]), row["target"] or "", met)
        lines.append(f"| {' | '.join(cells)} |")
    for name, title in CURVES.items():
        if (path.parent / name).exists():
            lines += ["", f"![{title}]({name})"]
    text = path.read_text(encoding="utf-8")
    figures = "\n".join([*lines, "", END])
    pattern = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    path.write_text(pattern.sub(lambda _: figures, text), encoding="utf-8")


def circumstances(load):
    """When and where, and how busy the machine was when the run began."""
    kernel = platform.release()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return (
        f"{datetime.date.today()}, commit {commit.stdout.strip() or 'unknown'}, {os.cpu_count()}"
        f" processors ({processor()}), Linux {kernel}; load average before the run {load:.2f}.")


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()
