"""What databases write differently, of all that statements say: everything else is the same text for all of them."""

from __future__ import annotations


class SqlDialect:
    """As DuckDB, PostgreSQL and Spark write it; a session of another database says what differs there.

    Attributes
    ----------
    whole
        The type of whole numbers of 64 bits.
    nan
        The floating-point value that is no number; None where a database keeps no such value.
    """

    whole = "BIGINT"
    nan: str | None = "CAST('NaN' AS FLOAT)"

    def literal(self, text: str) -> str:
        """Write a text."""
        raise NotImplementedError

    def last(self, expression: str) -> str:
        """Order by an expression, with what is missing last."""
        return f"{expression} NULLS LAST"

    def trimmed(self, text: str, signs: str) -> str:
        """Take some signs away at both ends of a text."""
        return f"TRIM(BOTH {self.literal(signs)} FROM {text})"

    def same(self, left: str, right: str, neutral: str) -> str:
        """Whether two values are equal, or both missing; ``neutral`` is some value of their kind."""
        return f"COALESCE({left}, {neutral}) = COALESCE({right}, {neutral}) AND ({left} IS NULL) = ({right} IS NULL)"
