"""UNA and its NT-Xent loss."""
