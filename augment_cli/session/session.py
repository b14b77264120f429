"""All steps of a store in one object."""

from __future__ import annotations

from augment_cli.session.augmenting import Augmenting
from augment_cli.session.packing import Packing
from augment_cli.session.reading import Reading


class Session(Reading, Augmenting, Packing):
    """A store, an engine and a reporter, with one method for each kind of stage.

    Used as `with Session(…) as session:`, which holds the store's lock.

    Parameters
    ----------
    store : str or Path
        Folder of the store; made if it is not there.
    engine : Engine, optional
        One worker for each core by default.
    reporter : Reporter, optional
    shared : bool
        Let other processes make other parts of the same stages at the same time (`--parts`).
    overwrite : bool
        Delete a stage that is there with other settings, and what was made from it, instead of refusing.
        Only the stage that is asked for is meant, not the earlier ones that it needs.
    """
