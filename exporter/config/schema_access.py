"""The keys about how a target is reached, let in, and paid for."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from exporter.config import address, names
from exporter.config.section import Currency, EnvName, FilePath, Price, Section, Text


class Prices(Section):
    """Money per million tokens; gives spend metrics and the daily cost that `check` prints."""

    input_per_mtok: Price = Field(description="Price of a million input tokens, in the currency.")
    output_per_mtok: Price = Field(description="Price of a million output tokens, in the currency.")
    currency: Currency = Field(default="USD", description="ISO 4217 code.")


class Tls(Section):
    """How the server's certificate is checked."""

    ca_file: FilePath | None = Field(
        default=None, description="PEM file with the certificates to trust, beside this file."
    )
    insecure: bool = Field(False, description="true accepts any certificate: for tests only.")
    server_name: Annotated[str, AfterValidator(address.host)] | None = Field(
        default=None, description="Name to ask for (SNI) and verify where it is not the URL's host."
    )
    cert_file: FilePath | None = Field(
        default=None, description="PEM file with our own certificate, for servers that ask for one."
    )
    key_file: FilePath | None = Field(
        default=None, description="PEM file with its key, where that is not in cert_file."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.key_file is not None and self.cert_file is None:
            raise ValueError("key_file needs cert_file, the certificate that the key belongs to")
        if self.insecure and self.ca_file is not None:
            raise ValueError("ca_file has no effect with insecure: true; remove one of the two")
        return self


class Header(Section):
    """A header that goes with every request."""

    name: Annotated[str, AfterValidator(names.header)] = Field(description="Name of the header.")
    value: Annotated[str, AfterValidator(names.printable)] | None = Field(
        default=None, description="Its value, where that is no secret."
    )
    value_env: EnvName | None = Field(default=None, description="Environment variable that holds its value.")
    value_file: FilePath | None = Field(
        default=None, description="File that holds its value; read again at each use."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [value for value in (self.value, self.value_env, self.value_file) if value is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of value, value_env and value_file")
        if self.value is not None and names.is_secret_header(self.name):
            raise ValueError(
                f"the header {self.name} is a secret; write value_env: NAME_OF_VARIABLE or value_file: PATH"
            )
        return self


class Azure(Section):
    """How Azure OpenAI wants to be asked."""

    api_version: Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]{1,40}$")] = Field(
        description="Version of the API, such as 2024-10-21."
    )
    deployment: Text | None = Field(
        default=None, description="Name of the deployment; the model's otherwise."
    )


class Budget(Section):
    """What the probes of a target may spend in a day, from midnight to midnight UTC."""

    tokens_per_day: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Most input and output tokens a day."
    )
    money_per_day: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="Most money a day, in the currency of the prices."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.tokens_per_day is None and self.money_per_day is None:
            raise ValueError("names no bound; write tokens_per_day or money_per_day")
        return self
