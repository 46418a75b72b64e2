"""/metrics, read with Prometheus's own parser."""

import httpx
from prometheus_client.parser import text_string_to_metric_families


def counts(client: httpx.Client) -> dict[str, float]:
    """Every sample under its name and labels."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    return {
        sample.name + "".join(f"|{name}={value}" for name, value in sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }
