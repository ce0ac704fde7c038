"""Which encodings a client takes."""


def accepts_gzip(accept_encoding: str) -> bool:
    """Tell whether an Accept-Encoding header allows gzip; ``gzip;q=0`` forbids it.  Source: RFC 9110."""
    weights = dict(_weight(item) for item in accept_encoding.lower().split(","))
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0))) > 0


def _weight(item: str) -> tuple[str, float]:
    coding, *parameters = (part.strip() for part in item.split(";"))
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return coding, float(parameter[2:])
            except ValueError:
                return coding, 0.0
    return coding, 1.0
