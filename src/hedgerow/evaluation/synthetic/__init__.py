"""Made-up microdata with a plan to go with it, for demonstrations, tutorials and tests.

Nobody in these tables exists. What they have in common with real tables is what makes those hard to protect: values
are skewed (a few large cities, a long tail of incomes), columns depend on each other (illness on age and sex, income on
age and place), some cells are empty, and some need quotes in CSV.

Random numbers are made from the raw bits of one bit generator, whose stream NumPy promises not to change, so that a
seed means the same table with every version of NumPy.
"""

from hedgerow.evaluation.synthetic.census import census
from hedgerow.evaluation.synthetic.clinic import clinic
from hedgerow.evaluation.synthetic.deaths import deaths
from hedgerow.evaluation.synthetic.table import Synthetic, write_demo

__all__ = ["Synthetic", "census", "clinic", "deaths", "write_demo"]
