# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs notebooks, and compares what each cell says with what the notebook shows. Drawings are made, and not compared.

    test_notebooks.py FOLDER...

With CARRICK_RECORD=1 the notebooks are written again, with what they say and draw."""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def said(notebook):
    """What each cell says, in one text: a stream arrives in pieces."""
    texts = []
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        texts.append("".join(o.text if o.output_type == "stream" else o.data.get("text/plain", "") for o in outputs))
    return texts


def tidy(notebook):
    """Without what differs from run to run."""
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return notebook


def run(path, folder):
    before = nbformat.read(path, as_version=4)
    after = NotebookClient(
        nbformat.read(path, as_version=4), timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    if os.environ.get("CARRICK_RECORD"):
        after.metadata = before.metadata
        nbformat.write(tidy(after), path)
        return
    for cell, shown, now in zip(after.cells, said(before), said(after), strict=True):
        assert shown == now, f"{path}, of the cell\n{cell.source}\nit shows\n{shown}\nand now it says\n{now}"


for notebook in sorted(path for folder in sys.argv[1:] for path in Path(folder).glob("*.ipynb")):
    with tempfile.TemporaryDirectory() as folder:
        run(notebook, folder)
    print(notebook.name, "is as it shows")
