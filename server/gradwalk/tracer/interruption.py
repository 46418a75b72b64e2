"""How the sandbox tells a running program that its time is up."""


class TimeLimitError(BaseException):
    """Raised inside the student's program by the child's alarm; not an `Exception`, so `except Exception` lets it by.

    A run that ends with it is a `timeout` problem at the line where it was raised.
    """
