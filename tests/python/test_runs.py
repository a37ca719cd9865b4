# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs, runs and their results, with nothing but the package itself."""

import os
import pickle
import signal
import tempfile
import threading
import unittest
from pathlib import Path

import carrick as ck

PROGRAM = "stop-and-wait"
BROKEN = """uint8 one = 1;
"""

# Python leaves an interrupt ignored where what began it did, such as a shell in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Programs(unittest.TestCase):
    def test_shipped_ones_are_there(self):
        self.assertIn(PROGRAM, ck.programs())
        for name in ck.programs():
            self.assertTrue(ck.program(name).texts, name)

    def test_a_file_is_a_text(self):
        text = next(iter(ck.program(PROGRAM).texts.values()))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "own.mtp"
            path.write_text(text)
            program = ck.program(path)
        # The file is gone, and is not needed.
        of_file = ck.simulate(program, bytes="20KB").summary
        self.assertEqual(of_file, ck.simulate(ck.program(text), bytes="20KB").summary)
        self.assertEqual(pickle.loads(pickle.dumps(program)), program)

    def test_errors_have_spans(self):
        with self.assertRaises(ck.ProgramError) as caught:
            ck.program(BROKEN, name="broken.mtp")
        first = caught.exception.diagnostics[0]
        self.assertEqual((first.code, first.severity), ("MTP0013", "error"))
        self.assertEqual((first.span.file, first.span.start.line), ("broken.mtp", 1))
        self.assertIn(" --> broken.mtp:1:1", str(caught.exception))
        self.assertEqual(pickle.loads(pickle.dumps(caught.exception)).diagnostics, (*caught.exception.diagnostics,))

    def test_a_missing_one_is_named(self):
        with self.assertRaisesRegex(FileNotFoundError, "no program 'nowhere.mtp': name a file"):
            ck.program("nowhere.mtp")


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = ck.program(PROGRAM)

    def test_two_hosts(self):
        run = ck.simulate(self.program, loss=0.01, delay="1ms", bytes="100KB", seed=7)
        self.assertTrue(run.ok, run.failures)
        self.assertEqual(run.summary["delivered_bytes"], 100_000)
        self.assertGreater(run.summary["lost_packets"], 0)
        self.assertEqual(run.results["seed"], 7)
        [flow] = run.flows.to_dicts()
        self.assertEqual((flow["delivered_bytes"], flow["flow_status"]), (100_000, "closed"))
        self.assertEqual(run.flows["slowdown"], [None])
        self.assertEqual(len(run.flows), 1)

    def test_a_topology(self):
        run = ck.simulate(self.program, topology="dumbbell:2", rate="100Mbps", bytes="20KB", pcap=None, fast=False)
        self.assertEqual(len(run.flows), run.summary["flows_ended"])
        self.assertEqual(sum(run.flows["delivered_bytes"]), run.summary["delivered_bytes"])
        self.assertEqual(sum(run.rates("1ms")["bytes"]), run.summary["delivered_bytes"])
        self.assertIn("goodput_bps", run.timeline.columns)

    def test_options_take_programs(self):
        text = next(iter(self.program.texts.values()))
        own = ck.program(text, name="own.mtp")
        places = {"h1": own, "h3": own}
        run = ck.simulate(self.program, topology="dumbbell:2", bytes="5KB", workload="all-to-all@h0..h1:h2..h3", host_program=places)
        self.assertEqual(set(run.flows["flow_program"]), {self.program.file, "own.mtp"})
        other = ck.program(text + "\n", name="own.mtp")
        with self.assertRaisesRegex(ck.OptionError, "two programs are called own.mtp"):
            ck.simulate(own, topology="pair", host_program={"h1": other})

    def test_what_is_asked_for_later_is_of_the_same_run(self):
        run = ck.simulate(self.program, topology="pair", bytes="20KB", loss="2%", seed=3)
        sent = run.trace.filter(what="sent").to_dicts()
        self.assertEqual(len(sent), run.summary["packets"])
        first = [record for record in sent if record["host"] == 0][:1]
        self.assertEqual(run.trace.filter(what="sent", host=0, t=first[0]["t"]).to_dicts(), first)
        self.assertEqual(run.trace.header["seed"], 3)
        self.assertEqual(set(run.samples("sent_at")["field"]), {"sent_at"})
        with self.assertRaisesRegex(ck.OptionError, "nothing"):
            run.samples("nothing")
        self.assertTrue(run.report().startswith("<!DOCTYPE html>"))

    def test_traces_are_read_in_both_forms_and_as_far_as_they_are_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            read = {}
            for form in ("binary", "json"):
                file = Path(folder, form)
                ck.simulate(self.program, bytes="500KB", seed=5, trace=file, trace_format=form)
                read[form] = ck.read_trace(file)
            self.assertEqual(read["binary"].to_dicts(), read["json"].to_dicts())
            self.assertEqual(read["binary"].header, read["json"].header)
            self.assertIsNone(read["binary"].cut)
            whole = Path(folder, "binary").read_bytes()
            part = Path(folder, "part")
            part.write_bytes(whole[: len(whole) * 2 // 3])
            cut = ck.read_trace(part)
            self.assertRegex(cut.cut, "it ends without its end mark, after [0-9]+ records")
            records = cut.to_dicts()
            self.assertGreater(len(records), 100)
            self.assertEqual(records, read["json"].to_dicts()[: len(records)])
            part.write_bytes(b"nothing")
            with self.assertRaisesRegex(ck.OptionError, "not that of a trace"):
                ck.read_trace(part)

    def test_a_notebook_draws_it(self):
        run = ck.simulate(self.program, bytes="5KB")
        shown = run._repr_html_()
        self.assertIn("<iframe srcdoc=", shown)
        self.assertIn("delivered_bytes", shown)
        self.assertIn("<td>closed</td>", run.flows._repr_html_())

    def test_failures_are_sentences(self):
        run = ck.simulate(self.program, bytes="100KB", cut="1ms")
        self.assertFalse(run.ok)
        self.assertTrue(all(isinstance(failure, str) for failure in run.failures))

    def test_what_is_wrong_is_an_exception(self):
        for options, why in [
            ({"dlay": "1ms"}, r"simulate\(\) has no option dlay: did you mean delay\?"),
            ({"loss": [0, 0.01]}, "loss: a list where one value is needed"),
            ({"loss": "0%,1%"}, "loss 0%,1%: .*one value"),
            ({"delay": "soon"}, 'delay: "soon" is not a duration'),
            ({"topology": "pair,star:3"}, "makes one run, with one value"),
            ({"fast": "yes"}, "fast: it is a switch"),
            ({"csv": "a.csv"}, "csv: the flows of a run are its `flows`"),
            ({"core_rate": "1Gbps"}, "--topology"),
            ({"with_": ["nothing"]}, "no feature or option `nothing`"),
            ({"topology": "pair", "seeds": 3}, "simulate\\(\\) makes one"),
            ({"loss": object()}, "loss: a value of type object"),
        ]:
            with self.subTest(options=options), self.assertRaisesRegex(ck.OptionError, why):
                ck.simulate(self.program, **options)
        with self.assertRaisesRegex(ck.OptionError, "a list of programs where one is needed"):
            ck.simulate([self.program])
        run = ck.simulate(self.program, bytes="5KB")
        with self.assertRaisesRegex(ck.OptionError, 'say topology="pair"'):
            run.samples("state")
        with self.assertRaisesRegex(KeyError, "there is no column"):
            run.flows["nothing"]

    def test_other_threads_go_on_and_an_interrupt_ends_it(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "run.pcapng")
            os.mkfifo(pipe)

            def interrupt():
                # The run writes while this thread of Python reads.
                with open(pipe, "rb") as packets:
                    packets.read(1)
                    signal.raise_signal(signal.SIGINT)
                    while packets.read(1 << 20):
                        pass

            reader = threading.Thread(target=interrupt)
            reader.start()
            with self.assertRaises(KeyboardInterrupt):
                ck.simulate(self.program, bytes="1GB", delay="10us", pcap=pipe)
            reader.join()


if __name__ == "__main__":
    unittest.main()
