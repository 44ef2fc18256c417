# As much of pandas as the example order-quality uses: a table of texts, read from CSV.
import csv


class Series(list):
    @property
    def is_unique(self):
        return len(set(self)) == len(self)

    def duplicated(self):
        return Series(value in self[:place] for place, value in enumerate(self))

    def sum(self):
        return sum(self)

    def all(self):
        return all(self)

    @property
    def str(self):
        return self

    def __getitem__(self, part):
        return Series(value[part] for value in self) if isinstance(part, slice) else super().__getitem__(part)

    def __eq__(self, other):
        return Series(value == other for value in self)


class Frame:
    def __init__(self, columns):
        self.columns = columns

    def __len__(self):
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, name):
        return self.columns[name]

    def isna(self):
        return Frame({name: Series(value == "" for value in column) for name, column in self.columns.items()})

    def sum(self):
        return {name: column.sum() for name, column in self.columns.items()}

    def describe(self, include):
        return self

    def to_html(self, path):
        with open(path, "w") as page:
            page.write(f"<p>{len(self)} rows</p>")


def read_csv(path):
    with open(path, newline="") as source:
        rows = list(csv.DictReader(source))
    return Frame({name: Series(row[name] for row in rows) for name in (rows[0] if rows else {})})
