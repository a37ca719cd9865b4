# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tables in libraries that others wrote."""

import gc
import unittest

import pandas
import polars
import pyarrow

import carrick as ck


class Libraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program = ck.program("stop-and-wait")
        cls.flows = ck.simulate(program, topology="star:3", bytes="20KB").flows
        cls.without = ck.simulate(program, bytes="5KB").flows

    def test_all_read_the_same(self):
        for table in (self.flows, self.without):
            rows = table.to_dicts()
            self.assertEqual(table.to_arrow().to_pylist(), rows)
            self.assertEqual(pyarrow.table(table).to_pylist(), rows)
            self.assertEqual(polars.DataFrame(table).to_dicts(), rows)
            self.assertEqual(table.to_polars().to_dicts(), rows)
            frame = table.to_pandas()
            self.assertEqual(list(frame.columns), table.columns)
            for column in table.columns:
                values = [None if pandas.isna(value) else value for value in frame[column]]
                self.assertEqual(values, table[column])

    def test_columns_have_types_that_survive(self):
        schema = pyarrow.table(self.without).schema
        self.assertEqual(schema.field("end_ns").type, pyarrow.int64())
        self.assertEqual(schema.field("slowdown").type, pyarrow.float64())
        self.assertEqual(str(self.without.to_pandas()["ideal_ns"].dtype), "Int64")

    def test_a_reader_may_take_a_part_and_live_longer(self):
        values = self.flows["delivered_bytes"]
        column = pyarrow.table(self.flows).column("delivered_bytes")
        reader = pyarrow.RecordBatchReader.from_stream(self.flows)
        self.assertEqual(reader.read_next_batch().num_rows, len(values))
        with self.assertRaises(StopIteration):
            reader.read_next_batch()
        capsule = self.flows.__arrow_c_stream__()
        del capsule, reader
        gc.collect()
        self.assertEqual(column.to_pylist(), values)

    def test_nothing_is_copied(self):
        first, second = (pyarrow.table(self.flows).column("end_ns").chunk(0).buffers()[1] for _ in range(2))
        self.assertEqual(first.address, second.address)


if __name__ == "__main__":
    unittest.main()
