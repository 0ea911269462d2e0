"""Measures how fast software is, and answers with honest statistics: the commands of `lapwing` as functions.

```python
import lapwing

answer = lapwing.compare("version:1.0", "version:1.1", metric="wall_time")
answer.verdict, answer.headline      # in a notebook, `answer` shows its table and its chart
answer.comparisons[0].ratio
answer.table().to_pandas()
answer.command                       # the same in a shell
lapwing.table("iterations").to_polars()
```

The words of a command are arguments, its options keywords: `--smallest-effect 5%` is `smallest_effect="5%"`,
a repeated option a list, an option of several words a tuple.
"""

from . import answers, study, trace
from ._answer import Answer, Chart, NextStep, Note
from ._ask import Store, ask, open
from ._commands import *  # noqa: F403
from ._program import LapwingError
from ._record import record
from ._table import Table, table
