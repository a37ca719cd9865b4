# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sweeps: the same table, whatever makes the runs."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import carrick as ck

PROGRAM = "stop-and-wait"
OPTIONS = {"loss": ["0%", "1%"], "delay": ["1ms", "5ms"], "bytes": "20KB", "seeds": 3}

# Python leaves an interrupt ignored where what began it did, such as a shell in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Sweeps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = ck.program(PROGRAM)
        sweep = ck.Sweep(cls.program, **OPTIONS)
        sweep.run(jobs=1)
        cls.csv = sweep.csv

    def sweep(self, **more):
        return ck.Sweep(self.program, **{**OPTIONS, **more})

    def test_the_table_is_that_of_the_command(self):
        command = Path(sys.executable).parent / "carrick"
        if not command.exists():
            self.skipTest("the command is not beside Python")
        with tempfile.TemporaryDirectory() as folder:
            for name, text in self.program.texts.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            words = ["--loss", "0%,1%", "--delay", "1ms,5ms", "--bytes", "20KB", "--seeds", "3", "-o", "all.csv"]
            subprocess.run([command, "sweep", self.program.file, *words], cwd=folder, check=True, capture_output=True)
            self.assertEqual((Path(folder) / "all.csv").read_text(), self.csv)

    def test_columns_have_units(self):
        table = self.sweep().run()
        self.assertEqual(len(table), 12)
        self.assertEqual(set(table["loss_ppm"]), {0, 10_000})
        self.assertEqual(set(table["delay_ns"]), {1_000_000, 5_000_000})
        self.assertEqual(table["status"], ["ok"] * 12)
        self.assertEqual(len(self.sweep(rows="flows").run()["flow_bytes"]), 12)

    def test_it_does_not_depend_on_workers(self):
        with ProcessPoolExecutor(2) as processes, ThreadPoolExecutor(3) as threads:
            for executor in (None, processes, threads):
                sweep = self.sweep()
                sweep.run(executor)
                self.assertEqual(sweep.csv, self.csv, executor)

    def test_the_runs_of_a_killed_worker_are_made_again(self):
        killed = []

        def kill_one(done, count):
            if not killed:
                killed.append(next(iter(processes._processes)))
                os.kill(killed[0], signal.SIGKILL)

        with ProcessPoolExecutor(2) as processes:
            sweep = self.sweep(seeds=100)
            sweep.run(processes, progress=kill_one)
        self.assertEqual(len(killed), 1)
        whole = self.sweep(seeds=100)
        whole.run()
        self.assertEqual(sweep.csv, whole.csv)

    def test_workers_that_always_die_are_an_error(self):
        with ProcessPoolExecutor(1, initializer=os._exit, initargs=(1,)) as processes:
            sweep = self.sweep()
            with self.assertRaisesRegex(ck.RunError, "workers died: 0 of 12 runs are made"):
                sweep.run(processes)
        sweep.run()
        self.assertEqual(sweep.csv, self.csv)

    def test_an_interrupt_keeps_what_is_done(self):
        def interrupt(done, count):
            if done >= 3:
                signal.raise_signal(signal.SIGINT)

        with ThreadPoolExecutor(1) as threads:
            for executor in (None, threads):
                sweep = self.sweep()
                with self.assertRaises(KeyboardInterrupt):
                    sweep.run(executor, jobs=1, progress=interrupt)
                self.assertGreaterEqual(sweep.done, 3)
                self.assertEqual(len(sweep.table), sweep.done)
                self.assertTrue(all(line in self.csv for line in sweep.csv.splitlines()))
                seen = []
                sweep.run(executor, progress=lambda done, count: seen.append(done))
                self.assertEqual((seen[-1], sweep.csv), (12, self.csv))
                self.assertEqual(len(sweep.run()), 12)

    def test_options_are_those_of_the_command(self):
        sweep = ck.Sweep([self.program], topology=["pair", "star:3"], bytes="5KB", seeds=2, fast=True)
        self.assertEqual(set(sweep.run()["topology"]), {"pair", "star:3"})
        zipped = ck.Sweep(self.program, loss=["0%", "1%"], delay=["1ms", "2ms"], zip="loss,delay", bytes="5KB")
        self.assertEqual(len(zipped), 2)
        for options, why in [
            ({"los": [0]}, r"Sweep\(\) has no option los: did you mean loss\?"),
            ({"loss": [0, 0]}, "0 is there twice"),
            ({"output": "a.csv"}, "Sweep\\(\\) does not take output"),
            ({"rows": "columns"}, "columns"),
            ({"delay": ["1ms", "soon"]}, "delay"),
        ]:
            with self.subTest(options=options), self.assertRaisesRegex(ck.OptionError, why):
                ck.Sweep(self.program, **options)


if __name__ == "__main__":
    unittest.main()
