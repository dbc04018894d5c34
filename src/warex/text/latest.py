"""A dictionary of the latest keys: peers that name ever new ones fill no memory."""

from collections import OrderedDict


class Latest[K, V](OrderedDict[K, V]):
    """Keeps the ``most`` keys that were set last."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)
